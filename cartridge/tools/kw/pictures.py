"""Pictures of kith and people, drawn from shapes (data/pictures.txt).

Shapes are painted one over the other on a 56x56 canvas with y downwards:

  e CX CY RX RY FILL       ellipse
  p FILL X,Y X,Y ...       polygon
  l SHADE WIDTH X,Y ...    line
  eye CX CY RX RY          dark eye with a glint
  orb CX CY RX RY          white eye with a pupil
  front / back / both      what follows is for that view only

A trailing "m" on a command ("em", "pm", ...) also paints the mirror image
about the middle. FILL is a flat shade 0-3 or s0, s1, s2: shaded from a light
at the upper left; a trailing "-" leaves out the dark outline. The view from
behind is made from the same shapes, mirrored, larger and cut off below.
"""

import itertools

from .graphics import SHADES, encode_tile
from .source import Lines

SIZE, BACK = 56, 48


class Canvas:
    def __init__(self, size):
        self.size = size
        self.pixels = [[None] * size for _ in range(size)]

    def paint(self, inside, fill, box):
        """inside(x, y) on pixel centres; box normalises the shading."""
        x0, y0, x1, y1 = box
        cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
        rx, ry = max((x1 - x0) / 2, 1), max((y1 - y0) / 2, 1)
        outline = not fill.endswith("-")
        fill = fill.rstrip("-")
        hit = set()
        for y in range(max(0, int(y0) - 1), min(self.size, int(y1) + 2)):
            for x in range(max(0, int(x0) - 1), min(self.size, int(x1) + 2)):
                if inside(x, y):
                    hit.add((x, y))
        for x, y in hit:
            edge = outline and not all(
                n in hit for n in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
            )
            if edge:
                shade = 3
            elif fill[0] == "s":
                light = -0.62 * (x - cx) / rx - 0.78 * (y - cy) / ry
                light += 0.13 if (x + y) & 1 else -0.13
                base = int(fill[1])
                shade = base - 1 if light > 0.42 else base if light > -0.42 else base + 1
                shade = max(0, min(3, shade))
            else:
                shade = int(fill)
            self.pixels[y][x] = shade

    def tiles(self):
        rows = ["".join(".:o#"[p or 0] for p in row) for row in self.pixels]
        out = b""
        for y in range(0, self.size, 8):
            for x in range(0, self.size, 8):
                out += encode_tile([r[x : x + 8] for r in rows[y : y + 8]], SHADES, None)
        return out

    def bounds(self):
        xs = [x for row in self.pixels for x, p in enumerate(row) if p is not None]
        ys = [y for y, row in enumerate(self.pixels) for p in row if p is not None]
        return min(xs), min(ys), max(xs), max(ys)


def in_polygon(points, x, y):
    inside = False
    for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1]):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


def near_line(points, width, x, y):
    limit = (width / 2) ** 2 + 0.01
    for (x1, y1), (x2, y2) in itertools.pairwise(points):
        dx, dy = x2 - x1, y2 - y1
        length = dx * dx + dy * dy
        t = 0 if length == 0 else max(0, min(1, ((x - x1) * dx + (y - y1) * dy) / length))
        px, py = x1 + t * dx - x, y1 + t * dy - y
        if px * px + py * py <= limit:
            return True
    return False


class Shape:
    def __init__(self, lines, words):
        self.command, mirror = words[0], False
        if self.command.endswith("m"):
            self.command, mirror = self.command[:-1], True
        self.mirror = mirror
        try:
            if self.command == "e":
                self.fill = words[5]
            elif self.command == "p":
                self.fill, self.points = (
                    words[1],
                    [tuple(map(float, w.split(","))) for w in words[2:]],
                )
            elif self.command == "l":
                self.fill, self.width = words[1] + "-", float(words[2])
                self.points = [tuple(map(float, w.split(","))) for w in words[3:]]
            elif self.command not in ("eye", "orb"):
                lines.fail(f"unknown shape {words[0]!r}")
            if self.command in ("e", "eye", "orb"):
                self.numbers = tuple(float(w) for w in words[1:5])
                if len(self.numbers) != 4:
                    raise ValueError
        except (ValueError, IndexError):
            lines.fail("cannot read this shape")

    def draw(self, canvas, move, scale):
        """move maps canvas coordinates to pixels."""
        for flip in (False, True) if self.mirror else (False,):

            def place(x, y):
                return move(SIZE - 1 - x if flip else x, y)

            if self.command in ("p", "l"):
                points = [place(x, y) for x, y in self.points]
                xs, ys = [p[0] for p in points], [p[1] for p in points]
                pad = self.width * scale if self.command == "l" else 0
                box = (min(xs) - pad, min(ys) - pad, max(xs) + pad, max(ys) + pad)
                if self.command == "p":
                    canvas.paint(
                        lambda x, y: in_polygon(points, x + 0.01, y + 0.01), self.fill, box
                    )
                else:
                    canvas.paint(
                        lambda x, y: near_line(points, self.width * scale, x, y), self.fill, box
                    )
                continue
            cx, cy, rx, ry = self.numbers
            cx, cy = place(cx, cy)
            rx, ry = rx * scale, ry * scale
            self.ellipse(
                canvas,
                cx,
                cy,
                rx,
                ry,
                self.fill if self.command == "e" else "3" if self.command == "eye" else "0",
            )
            if self.command == "eye":
                self.ellipse(
                    canvas, cx - rx / 3, cy - ry / 2.5, max(rx / 2.6, 0.8), max(ry / 2.6, 0.8), "0-"
                )
            elif self.command == "orb":
                self.ellipse(canvas, cx, cy + ry / 6, max(rx / 2.4, 0.9), max(ry / 1.9, 0.9), "3-")

    @staticmethod
    def ellipse(canvas, cx, cy, rx, ry, fill):
        canvas.paint(
            lambda x, y: ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 <= 1,
            fill,
            (cx - rx, cy - ry, cx + rx, cy + ry),
        )


def draw_front(shapes):
    canvas = Canvas(SIZE)
    for view, shape in shapes:
        if view != "back":
            shape.draw(canvas, lambda x, y: (x, y), 1)
    return canvas


def draw_back(shapes):
    x0, y0, x1, _ = draw_front(shapes).bounds()
    scale = max(1.0, min(1.35, (BACK - 3) / (x1 - x0 + 1)))
    middle = (x0 + x1) / 2
    canvas = Canvas(BACK)

    def move(x, y):
        return (middle - x) * scale + BACK / 2, (y - y0) * scale + 3

    for view, shape in shapes:
        if view != "front":
            shape.draw(canvas, move, scale)
    return canvas


def read(path):
    """name -> (front tiles 7x7, back tiles 6x6), row by row."""
    lines = Lines(path)
    out, name, shapes, view = {}, None, [], "both"

    def finish():
        if name:
            if not shapes:
                lines.fail(f"{name} has no shapes")
            out[name] = draw_front(shapes).tiles(), draw_back(shapes).tiles()

    while (words := lines.words()) is not None:
        if words[0] == "pic":
            finish()
            name, shapes, view = words[1], [], "both"
        elif words[0] in ("front", "back", "both"):
            view = words[0]
        else:
            shapes.append((view, Shape(lines, words)))
    finish()
    return out
