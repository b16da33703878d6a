// Cards.
