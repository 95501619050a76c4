"""Extensions of Sphinx for this site: navigation, and references made from the code itself."""
