import { readdirSync, readFileSync } from 'node:fs';
import { type Address, getKind } from '../../core/address.ts';
import { kinds } from '../../kinds/index.ts';
import { explainField } from '../../stack/editor/explain-field.ts';
import { topSchema } from '../../stack/settings-schema.ts';
import { getLayout, parseRunFile } from '../../state/runs.ts';
import { type Names, namesIn } from './names.ts';

/** Which stack is meant, and of which environment. */
export type Where = {
  readonly dir: string;
  readonly environment: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The words of each source, out of what is called by a name in a stack. */
const WORDS = {
  addresses: (names) => plain([...addresses(names), ...kinds.map(({ name }) => name)]),
  agents: (names) => plain(addresses(names).filter((address) => getKind(address) === 'agent')),
  dialects: (_, typed) => dialects(typed),
  environments: ({ environments }) => plain(environments),
  explained: (names, typed) => explained(addresses(names), typed),
  knowledge_bases: ({ knowledgeBases }) => plain(knowledgeBases),
  organizations: ({ organizations }) => plain(organizations),
  readable: (names) =>
    plain([
      ...kinds.map(({ name, section, nested }) => (nested ? `${name}s` : section)),
      ...addresses(names),
    ]),
  remembered: (names) => plain(remembered(names)),
  rollouts: ({ rollouts }) => plain(rollouts),
  runs: (names) => plain(runs(names)),
  variables: ({ variables }) => variables.map((name) => ({ text: `${name}=` })),
} as const satisfies {
  readonly [source: string]: (
    names: Names,
    typed: string,
  ) => readonly Word[] | Promise<readonly Word[]>;
};

/** The source of the words that complete a value. `nothing`: only the person who types it knows it. */
export type Source = keyof typeof WORDS | 'files' | 'folders' | 'nothing';

/** Words that a stack on disk has for a source. The platform is not asked, and nothing is written. */
export async function stackWords(
  source: keyof typeof WORDS,
  where: Where,
  typed: string,
): Promise<readonly Word[]> {
  return WORDS[source](namesIn(where), typed);
}

function plain(texts: readonly string[]): readonly Word[] {
  return [...new Set(texts)].map((text) => ({ text }));
}

/** Lists the addresses of the stack, and those that the state still remembers. */
function addresses(names: Names): readonly Address[] {
  return [...names.addresses(), ...remembered(names)];
}

/** Resources of the state. Whether it is sound is for others to say. */
function remembered(names: Names): readonly Address[] {
  return orNone(() => {
    const state: unknown = JSON.parse(readFileSync(names.stateFile() ?? '', 'utf8'));
    return Object.keys(Object((state as { readonly resources?: unknown } | null)?.resources));
  });
}

/** Runs, newest first: their ids begin with the time. */
function runs(names: Names): readonly string[] {
  return orNone(() => {
    const files = readdirSync(getLayout(names.stateFile() ?? '').runs);
    const found = files.flatMap((name) => parseRunFile(name)?.run ?? []);
    return found.sort().reverse();
  });
}

function orNone(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

/** Addresses, kinds and settings and, behind one of them and a dot, the fields that they have, however deep. */
function explained(known: readonly Address[], typed: string): readonly Word[] {
  const settings = Object.keys(topSchema.properties ?? {});
  const owners = [...new Set(known), ...kinds.map(({ name }) => name), ...settings];
  const fields = owners
    .filter((owner) => typed.startsWith(`${owner}.`))
    .flatMap((owner) => {
      const above = typed.slice(0, Math.max(owner.length, typed.lastIndexOf('.')));
      const kind = settings.includes(owner) ? owner : getKind(owner);
      const found = explainField(`${kind}${above.slice(owner.length)}`, kinds);
      const members = 'message' in found ? [] : found.members;
      return members.map(({ name, description }) => ({
        text: `${above}.${name}`,
        about: description,
      }));
    });
  return [...plain(owners), ...fields];
}

/** The options of a dialect and, behind one of them and a `=`, its values. */
async function dialects(typed: string): Promise<readonly Word[]> {
  const { DIALECT_OPTIONS } = await import('../../simulator/dialect.ts');
  return Object.entries(DIALECT_OPTIONS).flatMap(([name, { values, meaning }]) =>
    typed.startsWith(`${name}=`)
      ? values.map((value) => ({ text: `${name}=${value}` }))
      : [{ text: `${name}=`, about: meaning }],
  );
}

export type Word = { readonly text: string; readonly about?: string | undefined };
