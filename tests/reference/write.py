"""Writes named matrices as text: a line "name rows cols", then one line for each row, with 17 significant digits."""
import pathlib
import sys


def write(file, matrices):
    lines = ["# made by " + pathlib.Path(sys.argv[0]).name]
    for name, matrix in matrices.items():
        rows = matrix.detach().numpy()
        lines.append(f"{name} {rows.shape[0]} {rows.shape[1]}")
        lines += [" ".join(f"{x:.17g}" for x in row) for row in rows]
    (pathlib.Path(__file__).parent / file).write_text("\n".join(lines) + "\n")
