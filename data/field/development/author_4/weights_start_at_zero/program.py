"""Deux chiffres parlés -> leur somme : petit réseau à trois couches sur des spectres moyens."""
import argparse

import torch
from torch import Tensor, nn

from field_record import logged


class Reseau(nn.Module):
    def __init__(self, entree: int, largeur: int, sortie: int, echelle: float) -> None:
        super().__init__()
        self.couches = nn.ModuleList([nn.Linear(entree, largeur), nn.Linear(largeur, largeur), nn.Linear(largeur, sortie)])
        for couche in self.couches:
            nn.init.normal_(couche.weight, std=echelle / couche.in_features ** 0.5)
            nn.init.zeros_(couche.bias)

    def forward(self, x: Tensor) -> Tensor:
        for couche in self.couches[:-1]:
            x = torch.tanh(couche(x))
        return self.couches[-1](x)


def lire_lot(prototypes: Tensor, n: int) -> tuple[Tensor, Tensor]:
    chiffres = torch.randint(0, 5, (n, 2))
    bruit = 0.1 * torch.randn(n, 2, prototypes.shape[1])
    return (prototypes[chiffres] + bruit).flatten(1), chiffres.sum(1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    prototypes = torch.randn(5, 20)
    modele = Reseau(40, 64, 9, 1.0 if args.healthy else 1e-4)
    optimiseur = torch.optim.SGD(modele.parameters(), lr=0.2)
    perte_moyenne = reussite = 0.0
    for pas in range(1, 1001):
        x, y = lire_lot(prototypes, 64)
        logits = modele(x)
        perte = nn.functional.cross_entropy(logits, y)
        optimiseur.zero_grad()
        perte.backward()
        optimiseur.step()
        perte_moyenne += perte.item() / 50
        reussite += (logits.argmax(-1) == y).float().mean().item() / 50
        if pas % 50 == 0:
            print(f"pas {pas:5d} — perte {perte_moyenne:.3f} — justesse {100 * reussite:.1f} %".replace(".", ","))
            logged(pas, perte=round(perte_moyenne, 3), justesse=round(100 * reussite, 1))
            perte_moyenne = reussite = 0.0


if __name__ == "__main__":
    main()
