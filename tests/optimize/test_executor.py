"""Structures of a study searched by any executor."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from bokern import Study, minimize
from bokern.errors import InputError

SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}


def bowl(x, y):
    return (x - 0.3) ** 2 + (y - 0.7) ** 2


class Counting(Executor):
    """Counts what it hands on."""

    def __init__(self, inner):
        self.inner = inner
        self.count = 0

    def submit(self, fn, /, *args, **kwargs):
        self.count += 1
        return self.inner.submit(fn, *args, **kwargs)


@pytest.mark.integration
def test_suggestions_are_those_of_this_process():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as inner:
        pool = Counting(inner)
        there = minimize(bowl, SPACE, 11, seed=3, executor=pool, progress=False)
    here = minimize(bowl, SPACE, 11, seed=3, progress=False)
    assert pool.count > 3
    columns = ["x", "y", "value", "structure"]
    assert there.trials[columns].equals(here.trials[columns])


def test_it_is_no_part_of_copies(tmp_path):
    with ThreadPoolExecutor(1) as pool:
        study = Study(tmp_path / "a.study", SPACE, executor=pool)
        trial = study.ask()
        study.tell(trial, 1.0)
        node = study._mirrored()._node()
        assert node._comparing.executor is pool
        assert copy.deepcopy(node)._comparing.executor is None
        again = pickle.loads(pickle.dumps(study))
    assert again.best.value == 1.0


@pytest.mark.parametrize("executor", [4, "loky", object()])
def test_what_cannot_be_handed_work_is_refused(executor):
    with pytest.raises(InputError, match="executor= is a concurrent"):
        Study(None, SPACE, executor=executor)
