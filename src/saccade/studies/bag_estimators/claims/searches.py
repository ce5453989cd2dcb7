"""Claims on how the estimators search, beside the same searches written out, and on options."""

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.kinds import IDENTITY
from saccade.studies.bag_estimators.claims import SOURCE, ours
from saccade.studies.bag_estimators.experiments import (
    options_by_hand,
    rare_by_hand,
    searches_by_hand,
)

SEARCHES = Claim(
    id="bag-estimators.searches-by-hand", spec="EB-12", source=SOURCE,
    statement=(
        "Searches go on as they say, a few steps at a time: further random starts at every ridge,"
        " screened starts of evidence, screened groups, groups kept or freed for a new task,"
        " patches tied and free; three with fewer than ten bags a feature; two gradient steps at"
        " every setting; a third prototype joins the best pair."),
    kind=IDENTITY, experiment=searches_by_hand.searches_by_hand,
    measure=lambda run: one_row(run.data.off.values), resolution=[*[1e-9] * 7, 1e-7, 1e-9],
    argued="four steps of descent from the same point differ by rounding; logistic regressions end"
    " at slopes below 1e-9", parts=searches_by_hand.PARTS, scales={"quick": Scale(seconds=1)},
    citation=ours(
        "docstrings of attention.py, evidence.py, group.py, patches.py and prototypes.py"),
    sabotages=(
        Sabotage("five steps", "By hand descents have five steps for four.", {"steps": 5}),
        Sabotage("a start more", "By hand there are three further starts for two.", {"starts": 3}),
        Sabotage("larger ridge", "By hand the last ridge is .03 for .02.", {"last_ridge": 0.03}),
        Sabotage("a pair", "By hand two prototypes for three.", {"heads": 2})))

OPTIONS = Claim(
    id="bag-estimators.options-by-hand", spec="EB-12", source=SOURCE,
    statement=(
        "Options do what they say: queries and values in the units of the tokens, masks of arrays,"
        " lists and rows, tables and series, either positive class, no weights of classes, folds by"
        " number and seed, pooling beside numbers, the choice among candidates, constant features,"
        " bags longer than a block, tokens in single precision far from 0; defaults are those with"
        " which the reference was measured."),
    kind=IDENTITY, experiment=options_by_hand.options_by_hand,
    measure=lambda run: one_row(run.data.off.values),
    resolution=[*[1e-9] * 4, 1e-7, 1e-9, 1e-7, *[1e-9] * 2, 1e-7, 1e-5, 0.0],
    argued="rounding; regressions end at slopes below 1e-9, central differences leave 1e-9, and"
    " single precision has seven digits of sums of some ten numbers", parts=options_by_hand.PARTS,
    scales={"quick": Scale(seconds=1)},
    citation=ours("docstrings of the estimators; the defaults of the reference's table"),
    sabotages=(
        Sabotage(
            "otherwise",
            "By hand hidden tokens count, rows and channels stand otherwise, labels are"
            " turned, folds are others, ridges a tenth larger, the worst is chosen, and attention"
            " has two heads.", {"otherwise": True}),
        Sabotage("no constant", "The constant feature varies by .001.", {"noise": 1e-3}),
        Sabotage("moved", "By hand parameters a hundredth larger.", {"moved": 0.01})))

RARE = Claim(
    id="bag-estimators.rare-by-hand", spec="EB-12", source=SOURCE,
    statement=(
        "Rarer parts are as said: areas, errors and the level of what advice compares, the bags it"
        " asks for, mixtures of weighted tokens, sparse recovery under masks and its gaps for one"
        " matrix, the truths of generators, lengths of prototypes, association by rows, no better"
        " than pooling where every sharpness is 0, the middle setting where nothing was judged."),
    kind=IDENTITY, experiment=rare_by_hand.rare_by_hand,
    measure=lambda run: one_row(run.data.off.values),
    resolution=[1e-9, 0.0, 0.051, 1e-9, 1e-7, 1e-9, 0.0, *[1e-9] * 4],
    argued="rounding; bags are told to two digits, which is one in twenty at most; coordinate"
    " descent ends within 1e-8", parts=rare_by_hand.PARTS, scales={"quick": Scale(seconds=1)},
    citation=ours("docstrings of advise, lasso.py, samples.py, evidence.py and patches.py"),
    sabotages=(
        Sabotage("four folds", "By hand the ratio is that of four folds for three.", {"folds": 4}),
        Sabotage("not shared", "By hand the level is that of one pair.", {"pairs": 1}),
        Sabotage("other penalty", "By hand an alpha of .08 for .07.", {"alpha": 0.08}),
        Sabotage(
            "next bag", "By hand truths of the next bag, and a copy more of each token.", {"on": 1}
        ),
        Sabotage(
            "otherwise", "By hand lengths and scores a tenth larger, no sharpness is 0, and the"
            " setting after the middle.", {"other": 0.1})))
