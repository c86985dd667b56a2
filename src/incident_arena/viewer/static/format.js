// Figures as a person reads them. A missing figure is an en dash, never a zero.

const NONE = '\u2013';

/** 0.3512 to `35.1 %`. */
function share(value) {
  return value === null || value === undefined ? NONE : `${(100 * value).toFixed(1)}\u202f%`;
}

/** Seconds to `42 s`, `6 m 12 s`, `1 h 4 m`. */
function duration(seconds) {
  if (seconds === null || seconds === undefined) return NONE;
  const total = Math.round(seconds);
  if (total < 60) return total < 10 ? `${Number(seconds.toFixed(1))}\u202fs` : `${total}\u202fs`;
  if (total < 3600) return `${Math.floor(total / 60)}\u202fm ${String(total % 60).padStart(2, '0')}\u202fs`;
  return `${Math.floor(total / 3600)}\u202fh ${String(Math.floor((total % 3600) / 60)).padStart(2, '0')}\u202fm`;
}

/** Seconds since the agent's start to `+6:12`. */
function clock(seconds) {
  const total = Math.round(Math.abs(seconds));
  const sign = seconds < -0.5 ? '\u2212' : '+';
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const rest = String(total % 60).padStart(2, '0');
  return hours ? `${sign}${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${sign}${minutes}:${rest}`;
}

/** Epoch seconds to `14:03:12 UTC`. */
function utcTime(epoch) {
  return `${new Date(epoch * 1000).toISOString().slice(11, 19)} UTC`;
}

/** Epoch seconds to `2026-10-01 14:03 UTC`. */
function utcMinute(epoch) {
  return epoch === null || epoch === undefined
    ? NONE
    : `${new Date(epoch * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Seconds of a latency to `84 ms`, `1.2 s`. */
function latency(seconds) {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)}\u202fms`;
  return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)}\u202fs`;
}

/** 2810000 to `2.81 M`. */
function tokens(number) {
  if (number === null || number === undefined) return NONE;
  if (number < 1000) return String(Math.round(number));
  if (number < 999500) return `${(number / 1000).toPrecision(3)}\u202fk`;
  return `${(number / 1e6).toFixed(2)}\u202fM`;
}

/** US dollars. */
function money(dollars) {
  return dollars === null || dollars === undefined ? NONE : `$${dollars.toFixed(2)}`;
}

/** A value of a snapshot, or any other JSON scalar, as it is written. */
function scalar(value) {
  if (value === null || value === undefined) return '(absent)';
  return typeof value === 'string' ? (value === '' ? '(empty)' : value) : JSON.stringify(value);
}

/** `1 trial`, `2 trials`. */
function count(number, one, many) {
  return `${number.toLocaleString('en')} ${number === 1 ? one : (many ?? `${one}s`)}`;
}

const FORMATS = {
  text: (value) => (value === null ? NONE : String(value)),
  count: (value) => (value === null ? NONE : Number(value).toLocaleString('en')),
  number: (value) => (value === null ? NONE : Number(value).toFixed(3)),
  share,
  heat: share,
  money,
  duration,
  tokens,
};
