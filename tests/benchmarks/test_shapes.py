"""The job shapes at its smallest size."""

import json

import numpy as np
import pytest

from benchmarks import shapes
from benchmarks.__main__ import main


@pytest.mark.long
def test_shapes(tmp_path, capsys):
    arguments = ["shapes", "--quick", "--only", "sign product", "--output", str(tmp_path)]
    assert main(arguments) == 0
    lines = json.loads((tmp_path / "shapes.json").read_text(encoding="utf-8"))["lines"]
    assert len(lines) == 4
    over = [line["ratio"] / (line["bar"] or np.inf) for line in lines]
    assert over == sorted(over, reverse=True)
    out = capsys.readouterr().out
    for line in lines:
        assert f"{line['ratio']:.3f}" in out
    assert out.count("missed") == sum(ratio > 1.0 for ratio in over)


def test_all_shapes_are_streams_of_their_seeds():
    for name, shape in shapes.shapes().items():
        (X, y), (again, _), (_, other) = (shape.make(200, seed) for seed in (0, 0, 1))
        assert np.isfinite(X).all(), name
        assert len(X) == len(y) == 200
        assert np.array_equal(X, again)
        assert not np.array_equal(y, other)


def test_a_name_of_no_shape_is_refused():
    with pytest.raises(SystemExit, match="There are: timetable of 1"):
        main(["shapes", "--only", "circle"])
