// The time axis that lanes and chart share: what part of the episode is in view, and where its ticks are.

const TICK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** A view on [start, end]; listeners are told when it changes. */
function makeScale(start, end) {
  const listeners = [];
  const scale = {
    full: [start, end],
    from: start,
    to: end,
    /** Share of the width at which a moment lies; may be outside of 0 … 1. */
    at: (time) => (time - scale.from) / (scale.to - scale.from),
    /** The moment at a share of the width. */
    time: (part) => scale.from + part * (scale.to - scale.from),
    zoom(from, to) {
      const least = Math.min(10, end - start);
      if (to - from < least) return;
      [scale.from, scale.to] = [Math.max(start, from), Math.min(end, to)];
      listeners.forEach((listener) => listener());
    },
    zoomAround(time, factor) {
      const left = (time - scale.from) * factor;
      const right = (scale.to - time) * factor;
      scale.zoom(time - left, time + right);
    },
    reset: () => scale.zoom(start, end),
    isAt: (from, to) =>
      Math.abs(scale.from - Math.max(start, from)) < 0.5 && Math.abs(scale.to - Math.min(end, to)) < 0.5,
    onchange: (listener) => listeners.push(listener),
  };
  return scale;
}

/** Round moments inside the view, about one for every `apart` pixels of `width`. */
function ticks(scale, width, apart = 84) {
  const most = Math.max(2, Math.floor(width / apart));
  const step = TICK_STEPS.find((one) => (scale.to - scale.from) / one <= most) ?? TICK_STEPS.at(-1);
  const found = [];
  for (let tick = Math.ceil(scale.from / step) * step; tick <= scale.to; tick += step) found.push(tick);
  return found;
}
