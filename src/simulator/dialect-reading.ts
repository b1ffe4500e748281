import { parse } from 'yaml';
import { DIALECT_OPTIONS, type Dialect } from './dialect.ts';
import type { Option } from './option.ts';

/** A dialect as far as it is good, and a sentence for everything that is not. */
type DialectReading = {
  readonly dialect: Partial<Dialect>;
  readonly problems: readonly string[];
};

/** Reads a part of a dialect from anything, such as a parsed file. */
export function readDialect(part: unknown): DialectReading {
  if (typeof part !== 'object' || part === null || Array.isArray(part))
    return { dialect: {}, problems: ['the dialect must be an object'] };
  const problems: string[] = [];
  const good: { [name: string]: unknown } = {};
  for (const [name, given] of Object.entries(part)) {
    const option = optionOf(name);
    // In YAML the value `null` of `unset` is a null.
    const value = given === null && option?.isValue('null') ? 'null' : given;
    if (option === undefined) problems.push(`there is no option ${name}`);
    else if (option.isValue(value)) good[name] = value;
    else problems.push(`${name} must be ${option.accepts}, not ${JSON.stringify(given)}`);
  }
  return { dialect: good as Partial<Dialect>, problems };
}

/** Reads `name=value` pairs, as a command line has them. `absent` takes names with commas between. */
export function readDialectFlags(pairs: readonly string[]): DialectReading {
  const split = pairs.map((pair) => /^([^=]+)=(.*)$/s.exec(pair) ?? [pair, pair, undefined]);
  const malformed = split.flatMap(([pair, , text]) =>
    text === undefined ? [`${pair} must be name=value`] : [],
  );
  const given = split.flatMap(([, name = '', text]) =>
    text === undefined ? [] : [[name, name === 'absent' ? names(text) : scalar(text)] as const],
  );
  const { dialect, problems } = readDialect(Object.fromEntries(given));
  return { dialect, problems: [...malformed, ...problems] };
}

function names(text: string): readonly string[] {
  return text.split(',').filter((name) => name !== '');
}

function scalar(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

function optionOf(name: string): Option<unknown> | undefined {
  return Object.hasOwn(DIALECT_OPTIONS, name)
    ? (DIALECT_OPTIONS as { readonly [name: string]: Option<unknown> })[name]
    : undefined;
}
