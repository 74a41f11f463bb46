"""Pictures of the gallery's front page, drawn small: who shrinks a figure shrinks its words."""

import shutil
from pathlib import Path

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper

SIZE = 4.4, 3.08  # inches, on a page of three a row; words keep their points
SMALL = "small"  # a folder beside the large figures


def first_one_small(block, block_vars, gallery_conf):
    """Draw the first figure of an example small, too, before the gallery takes all of them."""
    numbers, paths = plt.get_fignums(), block_vars["image_path_iterator"]
    if numbers and not len(paths):
        folder = Path(paths.image_path).parent / SMALL
        folder.mkdir(parents=True, exist_ok=True)
        name = f"sphx_glr_{Path(block_vars['src_file']).stem}_thumb.png"
        draw_small(plt.figure(numbers[0]), folder / name)
    return matplotlib_scraper(block, block_vars, gallery_conf)


def draw_small(figure, path):
    """Save a figure in small size, long titles in lines, without legends that are wider than it."""
    size, axes = figure.get_size_inches(), figure.axes
    titles = [text for each in axes for text in (each.title, each.yaxis.label)]
    legends = [each.get_legend() for each in axes if each.get_legend()]
    figure.set_size_inches(SIZE)
    wide = [each for each in legends if each.get_window_extent().width > figure.bbox.width]
    for text in titles:
        text.set_wrap(True)
    for legend in wide:
        legend.set_visible(False)
    figure.savefig(path, dpi=180)
    for text in titles:
        text.set_wrap(False)
    for legend in wide:
        legend.set_visible(True)
    figure.set_size_inches(size)


def put_in_place(app):
    """Take the small ones in place of those that the gallery made of the large ones."""
    for path in (Path(app.srcdir) / "auto_examples" / "images" / SMALL).glob("*.png"):
        shutil.copy(path, path.parents[1] / "thumb" / path.name)


def _get_sg_image_scraper():
    """Return what the gallery asks a module for that is named in `image_scrapers`."""
    return first_one_small
