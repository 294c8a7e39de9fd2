"""What `--help` says."""

from __future__ import annotations

DESCRIPTION = """\
Bayesian optimisation with Gaussian-process structures selected by their evidence.

commands:
  demo         real data and a black box in under two minutes, with a report
  search       find the structure of a table of your own
  compare      rank structures on a table of your own
  structures   what structures there are, a line each
"""

EXAMPLES = """\
examples:
  bokern demo
  bokern search data.csv --target y --report report.html
  bokern compare data.csv --target y --report report.html
  bokern compare data.csv --target y --structures "RBF()" "Matern(2.5) + Linear()"
  bokern structures

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
