"""Saved, opened in a fresh process, continued with the same structures."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from ax.api.configs import StorageConfig
from ax.storage.sqa_store.db import (
    create_all_tables,
    get_engine,
    init_engine_and_session_factory,
)

from bokern.ax import generation_strategy, load, register
from bokern.errors import StorageError
from tests.ax.conftest import THREE, advance, make_client, record

pytestmark = pytest.mark.integration

CONTINUE = """
import json, sys
import bokern.ax
client = bokern.ax.load(*sys.argv[1:])
before = bokern.ax.newest_record(client._experiment)
(index, parameters), = client.get_next_trials(max_trials=1).items()
after = bokern.ax.newest_record(client._experiment)
print(json.dumps([before.to_json(), after.to_json(), index, parameters]))
"""


def continue_elsewhere(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", CONTINUE, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_json(tmp_path):
    path = tmp_path / "run.json"
    client = make_client(generation_strategy(THREE, initial=5, seed=2))
    advance(client, 7)
    client.save_to_json_file(str(path))
    known = record(client)
    before, after, index, parameters = continue_elsewhere(path)
    assert before == known.to_json()
    assert (after["incumbents"], after["used"]) == (known.incumbents, "structure")
    assert (after["searched_at"], index) == ({"y": 6}, 7)
    here = client.get_next_trials(max_trials=1)[7]
    assert parameters == pytest.approx(here, abs=1e-6)


def test_sqlite(tmp_path):
    path = tmp_path / "run.db"
    url = f"sqlite:///{path}"
    init_engine_and_session_factory(url=url)
    create_all_tables(get_engine())
    client = make_client(
        generation_strategy(THREE, initial=5, seed=2), storage=StorageConfig(url=url)
    )
    advance(client, 7)
    known = record(client)
    before, after, index, _ = continue_elsewhere(path, "run")
    assert before == known.to_json()
    assert (after["incumbents"], after["used"]) == (known.incumbents, "structure")
    assert index == 7


@pytest.mark.filterwarnings("ignore:.*cache key:sqlalchemy.exc.SAWarning")
def test_a_second_database_is_refused(tmp_path):
    """Ax would go on with the first without a word."""
    first, second = (f"sqlite:///{tmp_path / name}" for name in ("1.db", "2.db"))
    init_engine_and_session_factory(url=first)
    create_all_tables(get_engine())
    make_client(generation_strategy(THREE, initial=5), storage=StorageConfig(url=first))
    assert load(first, "run")._experiment.name == "run"
    with pytest.raises(StorageError, match="Ax keeps one database a process"):
        load(second, "run")


def test_a_copied_node_takes_its_incumbents_from_the_experiment():
    client = make_client(generation_strategy(THREE, initial=5))
    advance(client, 7)
    known = record(client)
    fresh = generation_strategy(THREE, initial=5)
    fresh.experiment = client._experiment
    fresh.fit(client._experiment)
    assert fresh.current_node.memory.incumbents == known.incumbents
    clone = client._generation_strategy.clone_reset()
    clone.experiment = client._experiment
    # A clone starts with the cache; whatever is in it, the record counts.
    clone._nodes[1].memory.incumbents = {"y": {"Linear()": 1.0}}
    clone.fit(client._experiment)
    assert clone.current_node.memory.incumbents == known.incumbents


def test_acquisition_options_are_stored_with_the_node(tmp_path):
    options = {"delta": 0.05, "scale": 1.0}
    strategy = generation_strategy(
        "RBF()", "gp-ucb", initial=2, acquisition_options=options
    )
    client = make_client(strategy)
    client.save_to_json_file(str(tmp_path / "run.json"))
    text = (tmp_path / "run.json").read_text()
    node = load(tmp_path / "run.json")._generation_strategy._nodes[1]
    assert node.acquisition_options == options
    # Written before there were options.
    document = json.loads(text)
    for stored in document["generation_strategy"]["nodes"]:
        stored.pop("acquisition_options", None)
    (tmp_path / "old.json").write_text(json.dumps(document))
    node = load(tmp_path / "old.json")._generation_strategy._nodes[1]
    assert node.acquisition_options == {}


def test_registering_twice_changes_nothing(tmp_path):
    register()
    register()
    client = make_client(generation_strategy(initial=2))
    client.save_to_json_file(str(tmp_path / "run.json"))
    loaded = load(tmp_path / "run.json")
    assert loaded._generation_strategy._nodes[1].structures == ["auto"]


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        (None, (), "is no file"),
        (b"{", (), "cannot be read as an Ax JSON snapshot"),
        (b"SQLite format 3\x00", (), "name one"),
        (b"SQLite format 3\x00junk", ("run",), "cannot be read"),
    ],
)
def test_unreadable_files(tmp_path, content, arguments, words):
    path = tmp_path / "run"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StorageError, match=words):
        load(path, *arguments)
