"""Every notebook runs from its first cell to its last, and shows what it says."""

import pathlib

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install './python[notebook]'")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install './python[notebook]'")

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not kept in the repository"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "image/png" in kinds, kinds
    assert any("data:image/gif" in output.get("data", {}).get("text/html", "") for output in outputs)
