"""What `--help` says."""

from __future__ import annotations

DESCRIPTION = """\
Bayesian optimisation with Gaussian-process structures selected by their evidence.

commands:
  demo         real data and a black box in under two minutes, with a report
  search       find the structure of a table of your own
  compare      rank structures on a table of your own
  structures   what structures there are, a line each

  optimize     run a study: a command or a Python function for each trial
  new          begin a study
  ask, tell    trials that are evaluated elsewhere
  status, best, leaderboard, report
               what a study found
  export, import
               its trials as CSV, JSON or for Ax; past trials from a table
  check        whether a study is sound, and a copy of all that is
"""

EXAMPLES = """\
examples:
  bokern demo
  bokern search data.csv --target y --report report.html
  bokern compare data.csv --target y --report report.html
  bokern compare data.csv --target y --structures "RBF()" "Matern(2.5) + Linear()"
  bokern structures
  bokern optimize study.yaml --parallel 2 --report report.html

exit codes: 0 done, 1 failed, 2 bad usage or input, 130 interrupted.
'bokern COMMAND --help' tells more about a command.
"""

DEMO = """\
Ranks structures on the monthly airline passengers of 1949 to 1960 (144 points),
minimises the Gramacy-Lee function, and writes a report of both.
"""

DEMO_EXAMPLES = """\
examples:
  bokern demo
  bokern demo --out results --trials 30 --seed 1
"""

COMPARE = """\
Fits each structure to the columns of a table (CSV, TSV or CSV.gz with a header),
ranks them by their log evidence, and says how strong the preference is.
"""

COMPARE_EXAMPLES = """\
examples:
  bokern compare data.csv --target y
  bokern compare data.csv --target y --features x1 x2 --bounds x1=0:1 x2=-5:5
  bokern compare data.csv --target y --structures "RBF()" "Kumaraswamy(Matern(2.5))"
  bokern compare data.csv.gz --target y --report report.html --json > found.json

FILE comes first, or before an option that takes one value. Without --bounds the
range of the data is the box in which the priors apply. 'bokern structures' lists
what --structures understands.
"""

SEARCH = """\
Finds the structure of the columns of a table (CSV, TSV or CSV.gz with a header):
starts from simple structures, derives others from the best by a grammar, ranks them by
their log evidence, and says in plain sentences what the winner found in the data.
"""

SEARCH_EXAMPLES = """\
examples:
  bokern search data.csv --target y
  bokern search data.csv --target y --bounds x1=0:1 x2=-5:5 --report report.html
  bokern search data.csv --target y --budget 5min --workers 4 --journal search.jsonl
  bokern search data.csv --target y --outcome auto --json > found.json
  bokern search data.csv --target y --structures "RBF()" "Linear()" --rounds 2

FILE comes first, or before an option that takes one value. Without --bounds the
range of the data is the box in which the priors apply. A search that was stopped goes
on from its --journal when the same command is run again.
"""

STRUCTURES = """\
Lists the structures: an example that --structures understands, the family, a line.
'+' adds independent functions, '*' multiplies kernels.
"""

OPTIMIZE = """\
Runs the study that a YAML file describes: asks for trials, evaluates each by a shell
command or a Python function, and keeps all of it in one file. Run it again with
--resume after whatever ended it, and it goes on.
"""

OPTIMIZE_EXAMPLES = """\
example of study.yaml:
  space:
    x: {low: 0.0, high: 1.0}
    lr: {low: 1e-5, high: 0.1, log: true}
    layers: {values: [1, 2, 4]}
    kind: {choice: [a, b]}
    epochs: 10
  direction: minimize
  constraints: ["x + 0.1*layers <= 1.2"]
  budget: 50
  time_limit: 600
  command: python train.py --x {x} --lr {lr} --layers {layers} --kind {kind}

A command prints its value as the last line, or {"loss": 0.3, "cost": [2, 0.1]} for
several outcomes, some with their standard error. In place of 'command', 'function:
train.py:loss' names a Python function. 'study: run.db' says where it is kept;
'outcome_constraints', 'structures', 'acquisition', 'selection', 'initial' and 'seed'
are those of bokern.Study.

examples:
  bokern optimize study.yaml
  bokern optimize study.yaml --resume --budget 80 --parallel 4 --report report.html
"""

NEW = """\
Begins the study that a YAML file describes, for 'bokern ask' and 'bokern tell'.
See 'bokern optimize --help' for the file.
"""

ASK = """\
Asks for trials: prints for each a line of JSON, with its number and parameters.
"""

ASK_EXAMPLES = """\
examples:
  bokern ask run.db
  bokern ask run.db --count 4 --lease 3600
"""

TELL = """\
Stores the outcome of a trial, or that it failed.
"""

TELL_EXAMPLES = """\
examples:
  bokern tell run.db 7 0.25
  bokern tell run.db 7 0.25 --sem 0.01
  bokern tell run.db 7 '{"loss": 0.25, "cost": 3}'
  bokern tell run.db 7 --failed "out of memory"
  bokern tell run.db '{"x": 0.5, "lr": 0.01}' 0.25
  bokern tell run.db -- 7 -0.25
"""

STATUS = """\
Says how many trials a study has, which are pending, and what is best.
"""

BEST = """\
Prints the best trial; with several objectives those that no other beats.
"""

LEADERBOARD = """\
Ranks the structures that a study compared last, by their probability.
"""

REPORT = """\
Writes a self-contained HTML page about a study.
"""

EXPORT = """\
Writes the trials of a study as CSV, as JSON, or as a snapshot that Ax loads.
"""

EXPORT_EXAMPLES = """\
examples:
  bokern export run.db trials.csv
  bokern export run.db trials.json
  bokern export run.db snapshot.json --form ax
"""

IMPORT = """\
Adds past trials from a table (CSV, TSV or CSV.gz with a header): a column for each
parameter and outcome, and perhaps 'value_sem' (or '<outcome>_sem'), 'status' and
'reason'. All are added or none.
"""

IMPORT_EXAMPLES = """\
example:
  bokern import run.db trials.csv
"""

CHECK = """\
Checks that a study is as it was written. Exit code 1 if it is damaged; --repair writes
all that is intact into a new file and leaves the old one as it is.
"""

CHECK_EXAMPLES = """\
examples:
  bokern check run.db
  bokern check run.db --repair copy.db
"""
