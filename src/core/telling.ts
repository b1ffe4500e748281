import { isList, isObject, type Value } from './value.ts';

/** Members that hold secrets where no schema says what they are. */
const SECRET_NAME = /password|passwd|secret|token$|authorization|auth_?headers|api_?key$/i;

/** Lists of `key` and `value` whose values often are credentials. */
const HEADERS_NAME = /^headers$/i;

/** Whether a member that no schema describes most likely holds a secret, by its name. */
export function isTellingName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Whether a member is a list of headers, by its name. */
export function isHeadersName(name: string): boolean {
  return HEADERS_NAME.test(name);
}

/** Whether anything in a value that no schema describes is named like a secret, however deep. */
export function holdsTelling(value: Value): boolean {
  if (isList(value)) return value.some(holdsTelling);
  if (!isObject(value)) return false;
  return Object.entries<Value>(value).some(
    ([name, member]) =>
      (holdsText(member) && (isTellingName(name) || isHeadersName(name))) || holdsTelling(member),
  );
}

/** Empty texts and flags give nothing away. */
function holdsText(value: Value): boolean {
  if (isList(value)) return value.some(holdsText);
  if (isObject(value)) return Object.values<Value>(value).some(holdsText);
  return typeof value === 'number' || (typeof value === 'string' && value !== '');
}
