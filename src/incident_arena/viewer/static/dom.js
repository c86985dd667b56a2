// Elements from code alone: text becomes text nodes, never markup. Characters that could hide or reorder text are shown.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Control, bidirectional, invisible and tag characters, and lone surrogates. Left alone: line feed and tab, and what
 * emoji are made of (the selectors for text and emoji style, a joiner after a pictograph).
 */
const HIDDEN = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f]',
    '[\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\ud800-\\udfff]',
    '[\\u034f\\ufe00-\\ufe0d]',
    '[\\u{e0000}-\\u{e0fff}]',
    '(?<![\\p{Extended_Pictographic}\\ufe0f])\\u200d',
  ].join('|'),
  'gu',
);

/** The mark that stands for a hidden character: an escape as in a shell, or its code point. */
function mark(character) {
  const code = character.codePointAt(0);
  if (code < 0xa0) return `\\x${code.toString(16).padStart(2, '0')}`;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Text as nodes: plain text nodes, and a marked element for each hidden character. */
function shown(text) {
  const value = String(text).replaceAll('\r\n', '\n');
  if (value.search(HIDDEN) < 0) return [document.createTextNode(value)];
  const nodes = [];
  let from = 0;
  for (const found of value.matchAll(HIDDEN)) {
    if (found.index > from) nodes.push(document.createTextNode(value.slice(from, found.index)));
    const element = document.createElement('span');
    element.className = 'hidden-char';
    element.textContent = mark(found[0]);
    nodes.push(element);
    from = found.index + found[0].length;
  }
  if (from < value.length) nodes.push(document.createTextNode(value.slice(from)));
  return nodes;
}

/** The same as one string, for attributes and the window's title. */
function shownText(text) {
  return String(text).replaceAll('\r\n', '\n').replace(HIDDEN, mark);
}

/** Append children: nodes as they are, everything else as text; null, undefined and false are skipped. */
function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    if (child instanceof Node) element.append(child);
    else element.append(...shown(child));
  }
  return element;
}

/** Set attributes; `on…` names take functions, true sets an empty attribute, null and false leave it out. */
function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style')
      Object.entries(value).forEach(([property, set]) => element.style.setProperty(property, set));
    else element.setAttribute(name, value === true ? '' : shownText(value));
  }
  return element;
}

/** An HTML element. */
function h(tag, attributes, ...children) {
  return append(assign(document.createElement(tag), attributes), children);
}

/** An SVG element. */
function s(tag, attributes, ...children) {
  return append(assign(document.createElementNS(SVG, tag), attributes), children);
}

/** A link inside the page. */
function link(href, attributes, ...children) {
  return h('a', { href, ...attributes }, ...children);
}

/** A disclosure whose content is made when it is first opened. */
function lazily(summary, make, attributes) {
  const details = h('details', attributes, h('summary', {}, summary));
  const fill = () => {
    if (details.dataset.filled) return;
    details.dataset.filled = 'yes';
    append(details, [make()].flat());
  };
  details.addEventListener('toggle', () => details.open && fill());
  if (details.open) fill();
  return details;
}
