"""Formulas as characters a browser shows without a library: $\\lambda_0$ as λ<sub>0</sub>. The text
around them is escaped."""

import re

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ",
    "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "star": "*", "ast": "*",
    "top": "⊤", "perp": "⊥", "infty": "∞", "partial": "∂", "nabla": "∇", "times": "×", "cdot": "·",
    "pm": "±", "sqrt": "√", "sum": "∑", "prod": "∏", "int": "∫", "langle": "⟨", "rangle": "⟩",
    "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "dots": "…", "ldots": "…", "cdots": "⋯",
    "leq": "≤", "geq": "≥", "le": "≤", "ge": "≥", "neq": "≠", "ne": "≠", "ll": "≪", "gg": "≫",
    "approx": "≈", "sim": "~", "propto": "∝", "to": "→", "mapsto": "↦", "in": "∈", "notin": "∉",
    "cap": "∩", "cup": "∪", "subset": "⊂", "mid": "|", "circ": "∘", "odot": "⊙", "prime": "′",
    "equiv": "≡", "quad": " ", "qquad": "  "}
SILENT = (
    "mathrm", "text", "mathbf", "mathcal", "mathtt", "mathbb", "operatorname", "left", "right",
    "big", "Big", "bigl", "bigr", "tfrac")


def escaped(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"))


def plain_words(text: str) -> str:
    """A text with formulas between dollar signs, as safe HTML."""
    return re.sub(r"\$([^$]*)\$", lambda found: formula(found[1]), escaped(text)).replace(
        "\n", "<br>")


def formula(text: str) -> str:
    """One formula (already escaped) with Greek letters, indices and exponents; good for a line, not
    for a display."""
    text = re.sub(r"\\[,;!: ]|~", " ", text)
    text = re.sub(r"\\t?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))", _fraction, text)
    text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", lambda found: f"√{_grouped(found[1])}", text)
    text = re.sub(rf"\\(?:{'|'.join(SILENT)})(?![A-Za-z])", "", text)
    text = re.sub(r"\\(?:hat|tilde|bar|widehat|widetilde)\s*", "", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: LETTERS.get(found[1], found[1]), text)
    for mark, tag in (("_", "sub"), (r"\^", "sup")):
        text = re.sub(
            rf"{mark}(?:\{{([^{{}}]*)\}}|([^\s{{}}]))", lambda found, tag=tag: _raised(found, tag),
            text)
    return text.replace("{", "").replace("}", "").replace("\\", "")


def _fraction(found: "re.Match[str]") -> str:
    above, below = found[1] or found[2] or "", found[3] or found[4] or ""
    return f"{_grouped(above)}/{_grouped(below)}"


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"\w+|\\\w+", text) else f"({text})"


def _raised(found: "re.Match[str]", tag: str) -> str:
    return f"<{tag}>{found[1] or found[2] or ''}</{tag}>"
