"""Signs by their names in LaTeX, and text made safe for a page."""

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
    "equiv": "≡", "varphi": "φ", "chi": "χ", "upsilon": "υ", "iota": "ι", "quad": " ",
    "qquad": "  "}


def escaped(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"))
