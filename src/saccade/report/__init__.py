"""The report: a static site of the ledger that opens from the file system, without a server, a
network or a script.

    from saccade.report import write_report
    write_report(rows, "report", scale="quick", seed=0, store=Store())

`words` says numbers and names, `entries` reads a row of the ledger, `scale_drawing` lays out an
interval against its prediction, `pictures` draws the figures, `live` makes them interactive,
`study` and `site` gather what the pages show, `writing` renders them and puts the folder in its
place. `reproducing` judges and draws everything first; `recorded` takes what travels with
saccade.
"""

from saccade.report.recorded import write_recorded
from saccade.report.writing import write_report
