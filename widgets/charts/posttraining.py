"""Methods of post-training: KL to the optimum, both rewards and forgetting over the steps, and reward over KL."""

from bokeh.models import HoverTool, Span

from playground.posttraining import Comparison, Method
from widgets.charts.chart import Chart
from widgets.charts.columns import Columns, columns_of
from widgets.charts.legend import shape, style
from widgets.charts.posttraining_marks import FRONTIER, OPTIMUM, PROXY, TITLES
from widgets.charts.strategies_over_steps import banded, course_chart
from widgets.design_tokens import GREY
from widgets.theme import chart

HEIGHT = 256
"""Pixels of a chart: two rows of them are seen at once on a small screen."""


def _ways(made: Comparison | None) -> list[tuple[int, Method, list[tuple[int, float, float]]]]:
    """The number of each method that has begun, the method, and its events as step, KL and reward."""
    methods = enumerate(made.methods if made else ())
    return [(k, method, way) for k, method in methods if made and (way := made.path(str(method)))]


def paths(made: Comparison | None) -> Columns:
    """One row per method that trains: its way over the plane."""
    rows = [
        (str(method), [kl for _, kl, _ in way], [reward for *_, reward in way], style(k)[0])
        for k, method, way in _ways(made)
        if method.step.trains
    ]
    return columns_of(("name", "xs", "ys", "colour"), rows)


def points(made: Comparison | None) -> Columns:
    """One row for every event of every method; for best of n every n has a mark of full size."""
    rows = [
        (str(method), *event, style(k)[0], shape(k), 4 if method.step.trains else 9)
        for k, method, way in _ways(made)
        for event in way
    ]
    return columns_of(("name", "step", "kl", "reward", "colour", "shape", "size"), rows)


def ends(made: Comparison | None) -> Columns:
    """One row for the last event of every method."""
    rows = [(str(method), *way[-1], style(k)[0], shape(k)) for k, method, way in _ways(made)]
    return columns_of(("name", "step", "kl", "reward", "colour", "shape"), rows)


def frontier(made: Comparison | None) -> Columns:
    """The most reward at every KL, and the beta that has it."""
    rows = [(p.beta, p.kl, p.reward) for p in made.setting.optimum.frontier()] if made else []
    return columns_of(("beta", "kl", "reward"), rows)


def optimum(made: Comparison | None) -> Columns:
    """The optimum at the beta that is trained."""
    rows = [(p.beta, p.kl, p.reward) for p in made.setting.optimum.frontier([made.setting.beta])] if made else []
    return columns_of(("beta", "kl", "reward"), rows)


def plane() -> Chart:
    """An empty plane of reward over KL to the reference: the frontier, the paths, and where each is now."""
    plot = chart(
        height=HEIGHT, title=TITLES["plane"], x_axis_label="KL to the reference (nats)", y_axis_label="reward",
    )  # fmt: skip
    made = Chart.of(plot, None, frontier=frontier, paths=paths, points=points, ends=ends, optimum=optimum)
    front = plot.line("kl", "reward", source=made.sources["frontier"], color=FRONTIER.colour, line_dash=FRONTIER.dash,
                      line_width=FRONTIER.width)  # fmt: skip
    plot.multi_line("xs", "ys", source=made.sources["paths"], color="colour", line_width=1.8)
    dots = plot.scatter("kl", "reward", source=made.sources["points"], marker="shape", size="size", color="colour")
    plot.scatter("kl", "reward", source=made.sources["ends"], marker="shape", size=10, color="colour")
    best = plot.scatter("kl", "reward", source=made.sources["optimum"], marker="star", size=17, color=OPTIMUM.colour,
                        fill_alpha=0.35, line_width=2)  # fmt: skip
    at = [("KL to the reference", "@kl{0.000}"), ("reward", "@reward{0.000}")]
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[("method", "@name"), ("step, or n", "@step"), *at]))
    plot.add_tools(HoverTool(renderers=[front, best], tooltips=[("optimum at beta", "@beta{0.000}"), *at]))
    return made


class RewardChart:
    """The true reward over the steps, and that of a proxy where one is trained, with what the optimum earns."""

    def __init__(self) -> None:
        self.figure = chart(height=HEIGHT, title=TITLES["reward"], x_axis_label="step", y_axis_label="reward")
        tip = [("method", "@name"), ("step", "@step")]
        self.proxy = banded(
            self.figure, "step", [*tip, ("proxy reward", "@value{0.000}")], dash=PROXY, size=4, width=1.8
        )
        self.true = banded(self.figure, "step", [*tip, ("true reward", "@value{0.000}")], size=5)
        look = {"dimension": "width", "line_color": GREY, "line_width": 1.4, "line_dash": "dotted", "visible": False}
        self.optimum = Span(location=0, **look)
        self.figure.add_layout(self.optimum)

    def show(self, made: Comparison) -> None:
        """Draw the rewards of a comparison."""
        proxy = bool(made.reward.proxy_of)
        self.true.show(made.values("true_reward"))
        self.proxy.show(made.values("proxy_reward") if proxy else {})
        self.figure.title.text = TITLES["goodhart" if proxy else "reward"]
        self.optimum.update(location=made.optimum_rewards[0], visible=True)


class Charts:
    """The four charts of a comparison."""

    def __init__(self) -> None:
        self.kl = course_chart(TITLES["kl"], "nats", what="method")
        self.kl.figure.y_range.update(start=0, range_padding=0.12)
        self.reward, self.plane = RewardChart(), plane()
        self.forgetting = course_chart(TITLES["forgetting"], "nats", zero=True, what="method")
        for each in (self.kl, self.forgetting):
            each.figure.height = HEIGHT
        self.figures = tuple(each.figure for each in (self.kl, self.reward, self.plane, self.forgetting))

    def show(self, made: Comparison) -> None:
        """Draw a comparison."""
        for figure in (self.kl.figure, self.reward.figure, self.forgetting.figure):
            figure.x_range.update(start=-0.02 * made.steps, end=1.02 * made.steps)
        self.kl.show(made.values("kl_to_optimum"))
        self.forgetting.show(made.values("forgetting"))
        self.reward.show(made)
        self.plane.show(made)
