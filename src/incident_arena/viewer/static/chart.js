// The latency chart under the lanes, by uPlot.

function chartSlot(timeline) {
  return timeline.kinds.length > 0 && h('div', { class: 'chart', 'aria-hidden': 'true' });
}

/** p95 latency of each judged kind on a logarithmic axis, by uPlot. */
function drawChart(state, slot) {
  const { timeline, scale } = state;
  const style = getComputedStyle(state.body);
  const colour = (name) => style.getPropertyValue(name).trim();
  const middle = timeline.kinds[0].n.map((_, bin) => timeline.start + (bin + 0.5) * timeline.step);
  const kinds = timeline.kinds.slice(0, HUES).filter((kind) => kind.judged);
  const rows = kinds.length ? kinds : timeline.kinds.slice(0, HUES);
  const line = { stroke: colour('--line'), width: 1 };
  const gutter = parseFloat(colour('--gutter'));
  state.chart?.destroy();
  slot.replaceChildren();
  state.chart = new uPlot(
    {
      width: slot.clientWidth,
      height: 150,
      padding: [10, parseFloat(colour('--values')), 6, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: () => [scale.from, scale.to] }, y: { distr: 3, range: latencyRange } },
      axes: [
        { show: false },
        {
          size: gutter,
          stroke: colour('--muted'),
          font: colour('--chart-font'),
          grid: line,
          ticks: { show: false },
          gap: 10,
          splits: decades,
          filter: (_, splits) => splits,
          values: (_, splits) => splits.map((value) => (value === null ? '' : latency(value))),
        },
      ],
      series: [
        {},
        ...rows.map((kind) => ({
          label: kind.name,
          stroke: colour(`--hue-${timeline.kinds.indexOf(kind)}`),
          width: 1.5,
          points: { show: false },
          spanGaps: true,
        })),
      ],
    },
    [middle, ...rows.map((kind) => kind.p95.map((value) => (value === null ? null : Math.max(value, 1) / 1000)))],
    slot,
  );
  if (!state.watched)
    scale.onchange(() => {
      placeMarkers(state);
      state.chart?.setScale('x', { min: scale.from, max: scale.to });
    });
  state.watched = true;
  slot.prepend(h('div', { class: 'chart-label' }, 'p95 latency'));
}

/** The data and a margin on a logarithmic axis. */
function latencyRange(_, low, high) {
  return low > 0 ? [low / 1.4, high * 1.4] : [0.01, 1];
}

/** Ticks at whole decades; where fewer than two are in view, also at twice and five times them. */
function decades(_, axis, low, high) {
  const powers = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) powers.push(10 ** power);
  const inside = (ticks_) => ticks_.filter((tick) => tick >= low && tick <= high);
  const found = inside(powers);
  return found.length > 1 ? found : inside(powers.flatMap((power) => [power, 2 * power, 5 * power]));
}
