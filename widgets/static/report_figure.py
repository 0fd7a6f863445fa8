"""The figure of a comparison as a file: SVG, or a PNG that is painted from it by Pillow."""

from io import BytesIO
from xml.etree import ElementTree

from PIL import Image, ImageColor, ImageDraw, ImageFont

from widgets.charts.columns import Values
from widgets.static.svg import INK, outcomes

ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
"""Pillow's names for where a text begins, is centred or ends, on its base line."""


def draw(kind: str, title: str, accuracy: Values, forgetting: Values) -> bytes:
    """Accuracy and forgetting of every strategy, seed by seed, as "svg" or "png"."""
    picture = outcomes(title, accuracy, forgetting)
    return picture.encode() if kind == "svg" else _png(picture)


def _png(picture: str, scale: int = 2) -> bytes:
    """The rectangles, lines, circles and texts of an SVG, `scale` pixels for every unit."""
    svg = ElementTree.fromstring(picture)
    width, height = (round(float(svg.attrib[side]) * scale) for side in ("width", "height"))
    image = Image.new("RGB", (width, height))
    pencil = ImageDraw.Draw(image, "RGBA")
    for element in svg:
        _paint(pencil, element, scale)
    kept = BytesIO()
    image.save(kept, "PNG")
    return kept.getvalue()


def _paint(pencil: ImageDraw.ImageDraw, element: ElementTree.Element, scale: int) -> None:
    def at(*names: str) -> list[float]:
        return [float(element.attrib[name]) * scale for name in names]

    def colour(name: str) -> tuple[int, ...]:
        red, green, blue, *alpha = ImageColor.getrgb(element.attrib[name])
        return red, green, blue, *(alpha or [round(255 * float(element.get(f"{name}-opacity", 1)))])

    match element.tag.rpartition("}")[2]:
        case "rect":
            x, y, width, height = at("x", "y", "width", "height")
            pencil.rectangle([x, y, x + width, y + height], colour("fill"))
        case "line":
            pencil.line(at("x1", "y1", "x2", "y2"), colour("stroke"), max(1, round(*at("stroke-width"))))
        case "circle":
            x, y, radius = at("cx", "cy", "r")
            pencil.circle((x, y), radius, colour("fill"))
        case "text":
            x, y, size = at("x", "y", "font-size")
            font, anchor = ImageFont.load_default(size), ANCHORS[element.attrib["text-anchor"]]
            pencil.text((x, y), element.text or "", INK, font, anchor)
