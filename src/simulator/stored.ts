import { isList, isObject, type Json, type JsonObject } from '../core/value.ts';
import { type Dialect, drawInventions, type StoredForm } from './dialect.ts';

/** A body as the platform takes it in: its values in the forms in which they are stored (`stores`). */
export function takeIn(dialect: Dialect, body: JsonObject): JsonObject {
  const { stores, inventions, nulls } = dialect;
  if (stores.length === 0) return body;
  const drawn = drawInventions(inventions).stored;
  const forms = stores.flatMap((form) => (form === 'drawn' ? drawn : form));
  // A platform that refuses null makes none of an empty text either.
  const own = new Set(forms.filter((form) => form !== 'null' || nulls === 'clears'));
  return storeMembers(body, own);
}

/** The HTML of an e-mail template is stored as given (Email templates). */
function storeMembers(members: JsonObject, forms: ReadonlySet<StoredForm>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, one]) => [
      name,
      name === 'body_html' ? one : store(one, forms),
    ]),
  );
}

function store(value: Json, forms: ReadonlySet<StoredForm>): Json {
  if (isList(value)) return value.map((item) => store(item, forms));
  if (isObject(value)) return storeMembers(value, forms);
  if (typeof value !== 'string') return value;
  const text = FORMS.reduce(
    (form, [name, change]) => (forms.has(name) ? change(form) : form),
    value,
  );
  return text === '' && forms.has('null') ? null : text;
}

const FORMS: readonly (readonly [StoredForm, (text: string) => string])[] = [
  ['lines', (text) => text.replaceAll(/\r\n?/g, '\n')],
  ['compose', (text) => text.normalize('NFC')],
  ['trim', (text) => text.trim()],
  [
    'lower',
    (text) =>
      text
        .replace(/^[^\s@]+@[^\s@]+$/, (address) => address.toLowerCase())
        .replace(/^\s*https?:\/\/[^/?#\s]+/i, (host) => host.toLowerCase()),
  ],
  ['slash', (text) => (/^https?:\/\/[^?#\s]*[^/?#\s]$/i.test(text) ? `${text}/` : text)],
];
