// The router, the keyboard and the theme.

const KEYS = [
  ['?', 'this list'],
  ['l', 'leaderboard'],
  ['t', 'task of this trial'],
  ['n, p', 'next, previous trial'],
  ['j, k', 'next, previous row of a list; Enter opens it'],
  ['/', 'find a trial'],
  ['c', 'compare two'],
  ['1 \u2026 8', 'section of a trial'],
  ['d', 'dark, light or the system\u2019s choice'],
  ['\u2190 \u2192', 'in the timeline: move the cursor; with Shift ten times as far'],
  ['[ ]', 'in the timeline: previous, next event'],
  ['+ \u2212 0', 'in the timeline: zoom in, out, show all'],
  ['Esc', 'in the timeline: take the cursor away'],
];
/** A live region speaks what is put into it once it was seen empty. */
const SPEAK_MS = 30;
const THEMES = ['system', 'light', 'dark'];
const app = { index: null, page: null, path: null, turn: 0, speaking: null, heading: null };

/** Say something to a screen reader. */
function say(text) {
  const live = document.getElementById('said');
  live.textContent = '';
  clearTimeout(app.speaking);
  app.speaking = setTimeout(() => append(live, [text]), SPEAK_MS);
}

/** What the address names. */
async function pageFor(index, hash) {
  const { path: path_, view, rest, asked } = readAddress(hash);
  if (path_ === '') return leaderboard(index, asked);
  try {
    if (path_ === 'compare') return comparePage(index, asked);
    if (view === 'task') return taskPage(index, decodeURIComponent(rest.join('/')), asked);
    if (view === 'trial')
      return await trialPage(index, rest.map((part) => encodeURIComponent(decodeURIComponent(part))).join('/'));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
  }
  return notFound(`This page has nothing at ${hash}.`);
}

/** Follow the address: a view that is shown already takes what is asked for, another one is drawn. */
function follow() {
  const { path: path_, asked } = readAddress(location.hash);
  if (app.path !== path_ || !app.page?.update) return show(false);
  app.page.update(asked);
  // A link to what the list is narrowed to leads there; Back and Forward leave the reader in place.
  if (document.activeElement?.getAttribute('href') === location.hash) {
    document.getElementById('trials-title')?.scrollIntoView();
    document.getElementById('trials-title')?.focus({ preventScroll: true });
  }
  return null;
}

/** Show what the address names; the heading gets the focus, so that a screen reader starts there. */
async function show(first) {
  const turn = (app.turn += 1);
  const main = document.getElementById('main');
  const hash = location.hash;
  let page;
  try {
    page = await pageFor(app.index, hash);
  } catch (error) {
    page = {
      title: 'Not readable',
      crumbs: [['#/', 'Results']],
      view: [h('h1', { tabindex: '-1' }, 'This part can\u2019t be read'), h('p', { role: 'alert' }, error.message)],
    };
  }
  if (turn !== app.turn) return;
  const left = app.page?.trial;
  app.page = page;
  app.path = readAddress(hash).path;
  app.heading = null;
  document.title = shownText(`${page.title} \u00b7 Incident-Arena`);
  crumbs(page);
  main.replaceChildren();
  append(main, [page.view]);
  const row = left && main.querySelector(`a.row-link[href="${CSS.escape(trialHref(left))}"]`);
  const target = page.focus ? document.getElementById(page.focus) : null;
  if (row) row.scrollIntoView({ block: 'center' });
  else if (target) target.scrollIntoView();
  else window.scrollTo(0, 0);
  if (!first) (row || target || main.querySelector('h1'))?.focus({ preventScroll: true });
}

function crumbs(page) {
  const list = h(
    'ol',
    {},
    page.crumbs.map(([href, text]) => h('li', {}, link(href, {}, text))),
  );
  document.getElementById('crumbs').replaceChildren(...(page.crumbs.length ? [list] : []));
}

/** Single keys; never while something is typed, a dialog is open, or a modifier is held. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest('input, select, textarea, dialog[open]')) {
    if (event.key === 'Escape' && event.target.matches('input')) event.target.blur();
    return;
  }
  // From where the last key leads, which may not be shown yet.
  const neighbours = (step) => {
    const from = app.heading ?? app.page.trial;
    const trial = from && app.index.trials[from.number + step];
    if (!trial) return;
    app.heading = trial;
    location.hash = trialHref(trial);
  };
  const acts = {
    '?': showHelp,
    l: () => {
      location.hash = '#/';
    },
    c: () => {
      location.hash = '#/compare';
    },
    d: nextTheme,
    n: () => neighbours(1),
    p: () => neighbours(-1),
    t: () => {
      if (app.page.trial) location.hash = taskHref(app.page.trial.task);
    },
    j: () => focusRow(1),
    k: () => focusRow(-1),
    '/': () => document.getElementById('find')?.focus(),
  };
  if (acts[event.key]) acts[event.key]();
  else if (/^[1-9]$/.test(event.key)) {
    const button = document.querySelectorAll('.sections button')[Number(event.key) - 1];
    if (!button) return;
    jumpTo(button.dataset.section);
  } else return;
  event.preventDefault();
}

/** Focus the next or previous row's link. */
function focusRow(step) {
  const links = [...document.querySelectorAll('a.row-link')];
  const at = links.indexOf(document.activeElement);
  const next = links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function showHelp() {
  const dialog = document.getElementById('help');
  dialog.replaceChildren(
    h('h2', { id: 'help-title' }, 'Keyboard'),
    h(
      'dl',
      {},
      KEYS.map(([keys, what]) =>
        h(
          'div',
          {},
          h(
            'dt',
            {},
            keys.split(/, | /).map((one) => [h('kbd', {}, one), ' ']),
          ),
          h('dd', {}, what),
        ),
      ),
    ),
    h(
      'form',
      { method: 'dialog' },
      h(
        'button',
        {
          onclick: (event) => {
            event.preventDefault();
            dialog.close();
          },
        },
        'Close',
      ),
    ),
  );
  dialog.showModal();
}

/** The theme is kept where the browser allows it (a page opened from a file may have no storage). */
function theme(set) {
  const root = document.documentElement;
  if (set === 'system') delete root.dataset.theme;
  else root.dataset.theme = set;
  document.getElementById('theme').textContent = {
    system: 'Theme: system',
    light: 'Theme: light',
    dark: 'Theme: dark',
  }[set];
  document.dispatchEvent(new Event('themechange'));
}

function storedTheme() {
  try {
    return localStorage.getItem('incident-arena-theme');
  } catch {
    return null;
  }
}

function nextTheme() {
  const now = document.documentElement.dataset.theme ?? 'system';
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
  theme(next);
  say(`Theme: ${next}`);
  try {
    localStorage.setItem('incident-arena-theme', next);
  } catch {
    // Without storage the choice lasts as long as the page is open.
  }
}

async function begin() {
  const stored = storedTheme();
  theme(THEMES.includes(stored) ? stored : 'system');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    document.dispatchEvent(new Event('themechange')),
  );
  document.getElementById('keys').addEventListener('click', showHelp);
  document.getElementById('theme').addEventListener('click', nextTheme);
  document.getElementById('skip').addEventListener('click', (event) => {
    event.preventDefault();
    document.getElementById('main').focus();
  });
  document.addEventListener('keydown', onKey);
  addEventListener('hashchange', follow);
  try {
    app.index = await readIndex();
  } catch (error) {
    document
      .getElementById('main')
      .replaceChildren(
        h('p', { class: 'notice', role: 'alert' }, `These results can\u2019t be read: ${error.message}`),
      );
    return;
  }
  await show(true);
  document.documentElement.dataset.ready = 'yes';
}

begin();
