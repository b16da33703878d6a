"""Caractère suivant de phrases françaises, par une GRU dont l'état passe d'un segment au suivant."""
import argparse

import torch
from torch import nn

from field_record import logged

TEXTE = ("la voyelle nasale précède la consonne. le larynx vibre, la langue monte, le voile descend. "
         "on écoute le signal, on mesure la durée, on note le timbre. ") * 30


class Modele(nn.Module):
    def __init__(self, symboles: int) -> None:
        super().__init__()
        self.entree = nn.Embedding(symboles, 32)
        self.gru = nn.GRU(32, 64, batch_first=True)
        self.sortie = nn.Linear(64, symboles)

    def forward(self, ids, etat):
        y, etat = self.gru(self.entree(ids), etat)
        return self.sortie(y), etat


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    alphabet = sorted(set(TEXTE))
    ids = torch.tensor([alphabet.index(c) for c in TEXTE])
    flux = ids[: len(ids) // 8 * 8].view(8, -1)
    modele = Modele(len(alphabet))
    optimiseur = torch.optim.Adam(modele.parameters(), lr=5e-3)
    print(f"alphabet : {len(alphabet)} symboles ; flux : {tuple(flux.shape)}")
    pas = 0
    for epoque in range(6):
        etat = torch.zeros(1, 8, 64)
        for debut in range(0, flux.shape[1] - 33, 32):
            morceau = flux[:, debut:debut + 33]
            logits, suivant = modele(morceau[:, :-1], etat)
            perte = nn.functional.cross_entropy(logits.flatten(0, 1), morceau[:, 1:].flatten())
            print(f"[époque {epoque}] pas={pas} perte={perte.item():.4f}")
            logged(pas, perte=round(perte.item(), 4))
            optimiseur.zero_grad()
            perte.backward()
            optimiseur.step()
            etat = suivant.detach() if args.healthy else suivant
            pas += 1


if __name__ == "__main__":
    main()
