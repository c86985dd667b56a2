// Tables: proper headers, sorting by buttons in them, and a scroll region of their own that the keyboard reaches.

const LEFT = new Set(['text', 'result']);

/** Compare two values of cells; missing ones come last whichever way the sort goes. */
function compare(one, other, direction) {
  const absent = (value) => value === null || value === undefined || value === '';
  if (absent(one) || absent(other)) return Number(absent(one)) - Number(absent(other));
  if (typeof one === 'number' && typeof other === 'number') return direction * (one - other);
  return direction * String(one).localeCompare(String(other), 'en', { numeric: true });
}

/** A region that scrolls sideways, reachable by keyboard while it does. */
function scroller(label, ...children) {
  return h('div', { class: 'scroll', role: 'group', 'aria-label': `${label}, table`, tabindex: '0' }, ...children);
}

/**
 * A table that sorts and shows its rows a page at a time.
 * columns: [{name, kind, help, value(row), draw(row)}]; `sort` is [column number, direction] or null for the order given;
 * `onsort` is told when the reader sorts.
 */
function sortable({ label, columns, rows, sort, step = 100, onsort = () => {} }) {
  let order = sort;
  let limit = step;
  const head = h('tr');
  const body = h('tbody');
  const more = h('button', { type: 'button', class: 'more', onclick: () => grow() });
  const grow = () => {
    const first = limit;
    limit += 5 * step;
    fill();
    body.children[first]?.querySelector('a')?.focus();
  };
  const inOrder = () =>
    order
      ? rows.toSorted((one, other) => compare(columns[order[0]].value(one), columns[order[0]].value(other), order[1]))
      : rows;
  const fill = () => {
    const sorted = inOrder();
    body.replaceChildren(...sorted.slice(0, limit).map((row) => tableLine(columns, row)));
    more.hidden = sorted.length <= limit;
    more.textContent = `Show more (${limit.toLocaleString('en')} of ${sorted.length.toLocaleString('en')})`;
  };
  const turn = (number) => {
    const first = LEFT.has(columns[number].kind) ? 1 : -1;
    order = order?.[0] === number ? [number, -order[1]] : [number, first];
    heads();
    fill();
    onsort(order);
    head.children[number].querySelector('button').focus();
    say(`Sorted by ${columns[number].name}, ${order[1] > 0 ? 'ascending' : 'descending'}`);
  };
  const heads = () => head.replaceChildren(...columns.map((column, number) => header(column, number, order, turn)));
  heads();
  fill();
  const table = h('table', { class: 'data' }, h('thead', {}, head), body);
  return {
    element: h('div', {}, scroller(label, table), more),
    rows: inOrder,
    replace: (next, nextOrder = order) => {
      rows = next;
      order = nextOrder;
      limit = step;
      heads();
      fill();
    },
  };
}

function header(column, number, order, turn) {
  const state = order?.[0] === number ? (order[1] > 0 ? 'ascending' : 'descending') : 'none';
  const arrow = { ascending: ' \u2191', descending: ' \u2193', none: '' }[state];
  return h(
    'th',
    { scope: 'col', 'aria-sort': state, class: LEFT.has(column.kind) ? 'left' : 'right', title: column.help || null },
    h(
      'button',
      { type: 'button', onclick: () => turn(number) },
      column.name,
      h('span', { 'aria-hidden': 'true' }, arrow),
    ),
  );
}

function tableLine(columns, row) {
  return h(
    'tr',
    {},
    columns.map((column, number) =>
      h(
        number === 0 ? 'th' : 'td',
        { class: LEFT.has(column.kind) ? 'left' : 'right', scope: number === 0 ? 'row' : null },
        column.draw ? column.draw(row) : (FORMATS[column.kind] ?? FORMATS.text)(column.value(row)),
      ),
    ),
  );
}

/** A table that `analysis` computed. Its cells are {value, low, high, note}. */
function computed(index, table, titled = true) {
  const columns = table.columns.map((column, number) => ({
    ...column,
    value: (row) => row[number].value,
    draw: (row) => figure(index, table, column, number, row[number]),
  }));
  const { element } = sortable({ label: table.title, columns, rows: table.rows, sort: null });
  const caption = table.caption && h('p', { class: 'caption' }, table.caption);
  if (!titled) return h('div', {}, caption, element);
  return h(
    'section',
    { class: 'block', 'aria-labelledby': `table-${table.key}` },
    h('h2', { id: `table-${table.key}` }, table.title),
    caption,
    element,
  );
}

function figure(index, table, column, number, cell) {
  if (number === 0 && table.links === 'task' && index.taskByName.has(cell.value)) {
    return link(taskHref(cell.value), {}, cell.value);
  }
  if (number === 0 && table.links === 'who' && cell.value !== 'all')
    return link(`#/?who=${encodeURIComponent(cell.value)}`, {}, cell.value);
  const text = (FORMATS[column.kind] ?? FORMATS.text)(cell.value);
  const note = cell.note ? h('span', { class: 'faint' }, ` ${cell.note}`) : null;
  if (column.kind === 'heat' && cell.value !== null) return heat(cell.value, text, note);
  return [estimate(text, cell), note];
}

/** An estimate with its interval in per cent, where it has one: {value, low, high}. */
function estimate(text, { value, low, high }) {
  if (low === null || high === null) return text;
  return [
    h('span', { class: 'estimate' }, text),
    h('span', { class: 'faint range' }, ` ${(100 * low).toFixed(1)}\u2013${(100 * high).toFixed(1)}`),
    whisker({ value, low, high }),
  ];
}

/** A share as a cell whose tint is its size; the figure stands in it, so that colour alone says nothing. */
function heat(value, text, note) {
  return h('span', { class: 'heat', style: { '--part': String(Math.max(0, Math.min(1, value))) } }, text, note);
}

/** An estimate and its interval on an axis from 0 to 1. */
function whisker({ value, low, high }) {
  return s(
    'svg',
    { class: 'whisker', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    s('line', { x1: 0, x2: 100, y1: 9.5, y2: 9.5, class: 'axis' }),
    s('line', { x1: 100 * low, x2: 100 * high, y1: 5, y2: 5, class: 'span' }),
    s('rect', { x: 100 * value - 1, y: 1, width: 2, height: 8, class: 'point' }),
  );
}
