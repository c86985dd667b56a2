// The packs: base64, gzip, JSON. They stand in the page, or in scripts beside it that are loaded when they are needed.

const KEPT_PACKS = 16;
const packs = new Map();
const waiting = new Map();

/** Base64 and gzip to the JSON value. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

/** Called by the scripts beside the page. */
window.arenaPack = (token, number, text) => {
  const ask = waiting.get(number);
  if (ask) ask(token, text);
};

/** The text of a pack that is a file beside the page. */
function beside(index, number) {
  const src = `${encodeURIComponent(index.folder)}/${number}.js`;
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const end = () => {
      waiting.delete(number);
      script.remove();
    };
    const fail = (reason) => {
      end();
      reject(new Error(`${index.folder}/${number}.js ${reason}`));
    };
    waiting.set(number, (token, text) => {
      if (token !== index.token) return fail('belongs to another page: make the page again');
      end();
      return resolve(text);
    });
    script.src = src;
    script.onerror = () => fail('is missing: keep the folder beside the page');
    script.onload = () => waiting.has(number) && fail('is damaged: make the page again');
    document.head.append(script);
  });
}

/** A pack's documents; the last few packs are kept. */
function pack(index, number) {
  if (packs.has(number)) return packs.get(number);
  const element = document.getElementById(`pack-${number}`);
  const text = element ? Promise.resolve(element.textContent) : beside(index, number);
  const documents = text.then(unpack);
  documents.catch(() => packs.delete(number));
  packs.set(number, documents);
  if (packs.size > KEPT_PACKS) packs.delete(packs.keys().next().value);
  return documents;
}

/** One document by its reference [pack, place]; null for no reference. */
async function fetchDocument(index, ref) {
  return ref === null ? null : (await pack(index, ref[0]))[ref[1]];
}

/** The index, with its trials and tasks findable by name; jobs of one name may hold trials of one name. */
async function readIndex() {
  const index = await unpack(document.getElementById('index').textContent);
  index.taskByName = new Map(index.tasks.map((task) => [task.name, task]));
  index.trialByPath = new Map();
  index.trials.forEach((trial, number) => {
    const path = `${encodeURIComponent(trial.job)}/${encodeURIComponent(trial.name)}`;
    trial.number = number;
    trial.path = index.trialByPath.has(path) ? `${path}/${number}` : path;
    index.trialByPath.set(trial.path, trial);
  });
  return index;
}

function trialHref(trial) {
  return `#/trial/${trial.path}`;
}

function taskHref(name) {
  return `#/task/${encodeURIComponent(name)}`;
}
