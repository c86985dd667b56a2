// Figures: the shapes that `analysis` made from the report's tables, in the page's colours.

const OPEN_PICTURES = 2;
/** What a path of ours is made of. */
const PATH = /^[MLAaz\d ,.-]+$/;

/** One shape as an element; its tone is a class. */
function shapeElement({ kind, tone, x, y, w, h: high, text, anchor, path, strength }) {
  const look = { class: tone, opacity: strength < 1 ? strength : null };
  if (kind === 'box') return s('rect', { ...look, x, y, width: w, height: high });
  if (kind === 'line') return s('line', { ...look, x1: x, y1: y, x2: w, y2: high });
  if (kind === 'path') return s('path', { ...look, d: PATH.test(path) ? path : null });
  return s('text', { ...look, x, y, 'text-anchor': anchor }, shownText(text));
}

/** A figure; its numbers are those of the table of its name. It scrolls sideways where it is wider than the page. */
function pictureFigure(picture) {
  const label = `picture-${picture.name}`;
  return h(
    'figure',
    { class: 'picture' },
    h('h3', { id: label, class: 'unseen' }, picture.title),
    h(
      'div',
      { class: 'scroll', role: 'group', 'aria-labelledby': label, tabindex: '0' },
      s(
        'svg',
        {
          role: 'img',
          'aria-label': `${picture.title}. ${picture.caption}`,
          viewBox: `0 0 ${picture.width} ${picture.height}`,
          width: picture.width,
          height: picture.height,
        },
        picture.shapes.map(shapeElement),
      ),
    ),
    h('figcaption', { class: 'caption' }, picture.caption),
  );
}

/** The section of figures; the first ones are open, the others are drawn when they are opened. */
function pictureSection(index) {
  return (
    index.pictures.length > 0 &&
    h(
      'section',
      { class: 'block', 'aria-labelledby': 'pictures-title' },
      h('h2', { id: 'pictures-title' }, 'Figures'),
      h(
        'div',
        { class: 'more-tables' },
        index.pictures.map((picture, number) =>
          lazily(picture.title, () => pictureFigure(picture), { open: number < OPEN_PICTURES }),
        ),
      ),
    )
  );
}
