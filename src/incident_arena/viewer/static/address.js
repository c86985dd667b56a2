// The address: the view, and all that is chosen in it. It stands behind the #, so that a link shows what was seen.

/** What an address may ask for. */
const ASKED = ['text', 'result', 'class', 'task', 'who', 'effort', 'sort', 'a', 'b'];

/** An address in parts: the path, its view and what follows, and what is asked for. */
function readAddress(hash) {
  const [path_, ...query] = hash.replace(/^#?\/?/, '').split('?');
  const [view, ...rest] = path_.split('/');
  const pairs = [...new URLSearchParams(query.join('?'))];
  return { path: path_, view, rest, asked: Object.fromEntries(pairs.filter(([name, set]) => ASKED.includes(name) && set)) };
}

/** The address of a path with what is chosen. */
function address(path_, chosen) {
  const set = ASKED.filter((name) => chosen[name]).map((name) => [name, chosen[name]]);
  return `#/${path_}${set.length ? `?${new URLSearchParams(set)}` : ''}`;
}

/** Put what was chosen into the address of this view. A settled choice is a step that Back undoes; typing is none. */
function noteAddress(chosen, settled) {
  const next = address(readAddress(location.hash).path, chosen);
  if (next === location.hash) return;
  if (settled) history.pushState(null, '', next);
  else history.replaceState(null, '', next);
}
