"""The default panel with few trees in each member, for speed."""

from hedgeclipper.panel.defaults import default_panel


def panel_of_few_trees(*arguments, **options):
    panel = default_panel(*arguments, **options)
    for name, member in panel:
        trees = [own for own in member.get_params() if own.endswith("n_estimators")]
        member.set_params(**dict.fromkeys(trees, 40 if name == "hedgeclipper" else 10))
    return panel
