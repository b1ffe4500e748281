import { readdirSync, readFileSync } from 'node:fs';
import { type Address, kindOf } from '../../core/address.ts';
import { kinds } from '../../kinds/index.ts';
import { type Names, namesIn } from '../../stack/names.ts';
import { layoutOf, runOf } from '../../state/runs.ts';

/** Which stack is meant, and of which environment. */
export type Where = {
  readonly dir: string;
  readonly environment: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Words that a stack on disk has for a source. The platform is not asked, and nothing is written. */
export function stackWords(
  source: Exclude<Source, 'files' | 'folders' | 'nothing'>,
  where: Where,
  typed: string,
): readonly Word[] {
  const names = namesIn(where);
  switch (source) {
    case 'addresses':
      return plain([...addresses(names), ...kinds.map(({ name }) => name)]);
    case 'agents':
      return plain(addresses(names).filter((address) => kindOf(address) === 'agent'));
    case 'remembered':
      return plain(remembered(names));
    case 'explained':
      return explained(addresses(names), typed);
    case 'environments':
      return plain(names.environments);
    case 'organizations':
      return plain(names.organizations);
    case 'knowledge_bases':
      return plain(names.knowledgeBases);
    case 'rollouts':
      return plain(names.rollouts);
    case 'variables':
      return names.variables.map((name) => ({ text: `${name}=` }));
    case 'readable':
      return plain([
        ...kinds.map(({ name, section, nested }) => (nested ? `${name}s` : section)),
        ...addresses(names),
      ]);
    case 'runs':
      return plain(runs(names));
  }
}

function plain(texts: readonly string[]): readonly Word[] {
  return [...new Set(texts)].map((text) => ({ text }));
}

/** What the stack has, and what the state still remembers. */
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
    const files = readdirSync(layoutOf(names.stateFile() ?? '').runs);
    const found = files.flatMap((name) => runOf(name)?.run ?? []);
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

/** Addresses and kinds and, behind one of them and a dot, the fields that they have. */
function explained(known: readonly Address[], typed: string): readonly Word[] {
  const owners = [...new Set(known), ...kinds.map(({ name }) => name)];
  const fields = owners
    .filter((owner) => typed.startsWith(`${owner}.`))
    .flatMap((owner) => {
      const properties = kinds.find(({ name }) => name === kindOf(owner))?.schema.properties ?? {};
      return Object.keys(properties).map((field) => ({ text: `${owner}.${field}` }));
    });
  return [...plain(owners), ...fields];
}

export type Word = { readonly text: string; readonly about?: string | undefined };

/** Where the words come from that complete a value. `nothing`: only whoever types it knows it. */
export type Source =
  | 'addresses'
  | 'agents'
  | 'environments'
  | 'explained'
  | 'files'
  | 'folders'
  | 'knowledge_bases'
  | 'nothing'
  | 'organizations'
  | 'readable'
  | 'remembered'
  | 'rollouts'
  | 'runs'
  | 'variables';
