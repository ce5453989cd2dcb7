"""The look of the live pictures, in one place."""

from typing import Any


def finished(figure: Any, width: int, height: int, **layout: Any) -> Any:
    """White ground, the legend above the picture, room for the labels; further words of Plotly's
    layout are passed on."""
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}
    figure.update_layout(
        template="plotly_white", width=width, height=height, legend=legend,
        margin={"t": 60, "b": 45, "l": 60, "r": 20})
    figure.update_layout(**layout)
    return figure


def described(figure: Any, words: str) -> Any:
    """The picture with words for those who do not see it: a screen reader says them before the
    curves' numbers."""
    from html import escape

    import marimo as mo

    return mo.Html(
        f'<div role="figure" aria-label="{escape(words)}">{mo.as_html(figure).text}</div>')
