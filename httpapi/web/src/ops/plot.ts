// Two charts of a restaurant's runs: the duration of each step, and the number of
// dishes. The table below has the same data.

import uPlot from "../../vendor/uplot/uPlot.esm.js";
import { h, put, type Child } from "./dom";
import { count, milliseconds, number, zone } from "./format";
import type { Run } from "./model";

const steps = ["fetch", "decode", "lint", "compile", "publish"] as const;
const height = 180;

interface Line {
  name: string;
  values: (number | null)[];
  colour: string;
}

/** Draws the charts of runs, given newest first. It draws nothing for fewer than two runs. */
export function plots(newest: Run[], signal: AbortSignal): Child {
  const runs = newest.filter((run) => run.state === "finished" && run.startedAt !== null).toReversed();
  if (runs.length < 2) return false;
  const times = runs.map((run) => Date.parse(run.startedAt!) / 1000);
  const durations = steps.map((name, i): Line => ({
    name,
    colour: `--line-${i + 1}`,
    values: runs.map((run) => run.steps[name] ?? null),
  }));
  const dishes: Line[] = [
    { name: "dishes", colour: "--line-1", values: runs.map((run) => (run.products > 0 ? run.products : null)) },
  ];
  const most = Math.max(...runs.map((run) => Object.values(run.steps).reduce((sum, ms) => sum + ms, 0)));
  return h(
    "div",
    { class: "plots" },
    figure(
      `Duration of each step in ${count(runs.length, "run")}; longest run ${milliseconds(most)}; times in ${zone}`,
      times,
      durations.filter(known),
      milliseconds,
      signal,
    ),
    dishes.some(known) && figure(`Dishes in the fetched menu; times in ${zone}`, times, dishes, number, signal),
  );
}

const days = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const minutes = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const seconds = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Formats the times of an axis whose ticks are `step` seconds apart. */
function clock(_: uPlot, ticks: number[], _axis: number, _space: number, step: number): string[] {
  const time = step >= 60 ? minutes : seconds;
  const format = step >= 86_400 ? days : time;
  return ticks.map((at) => format.format(at * 1000));
}

function known(line: Line): boolean {
  return line.values.some((value) => value !== null);
}

function figure(
  caption: string,
  times: number[],
  lines: Line[],
  unit: (n: number) => string,
  signal: AbortSignal,
): HTMLElement {
  const canvas = h("div", { class: "plot", "aria-hidden": "true" });
  const values = lines.map(() => h("span", { class: "value" }));
  const legend = h(
    "ul",
    { class: "legend" },
    lines.map((line, i) => {
      const swatch = h("i", {});
      swatch.style.setProperty("--c", `var(${line.colour})`);
      return h("li", {}, swatch, line.name, " ", values[i]);
    }),
  );
  let plot: uPlot | undefined;
  const draw = () => {
    const width = canvas.clientWidth;
    if (width === 0) return;
    plot?.destroy();
    const style = getComputedStyle(canvas);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour("--quiet"),
      grid: { stroke: colour("--rule"), width: 1 },
      ticks: { stroke: colour("--rule"), width: 1 },
    };
    plot = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        cursor: { y: false },
        scales: {
          y: { range: (_: uPlot, low: number, high: number): [number, number] => [0, Math.max(high, low + 1) * 1.05] },
        },
        axes: [
          { ...axis, space: 90, values: clock },
          { ...axis, size: 70, values: (_: uPlot, ticks: number[]) => ticks.map(unit) },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            label: line.name,
            stroke: colour(line.colour),
            width: 1.5,
            spanGaps: false,
            points: { size: 4 },
          })),
        ],
        hooks: {
          setCursor: [
            (own: uPlot) =>
              lines.forEach((line, i) => {
                const value =
                  own.cursor.idx === null || own.cursor.idx === undefined ? null : line.values[own.cursor.idx];
                put(values[i]!, value === null || value === undefined ? "" : unit(value));
              }),
          ],
        },
      },
      [times, ...lines.map((line) => line.values)],
      canvas,
    );
  };
  const size = new ResizeObserver(draw);
  size.observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, { signal });
  signal.addEventListener(
    "abort",
    () => {
      size.disconnect();
      plot?.destroy();
    },
    { once: true },
  );
  return h("figure", {}, h("figcaption", {}, caption), legend, canvas);
}
