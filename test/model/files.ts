import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

/** JSON as this model knows it: it takes nothing from the program that it judges. */
export type Value =
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | { readonly [k: string]: Value };
export type Fields = { readonly [name: string]: Value };

export const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
export const BAY = '4d7f1c9b-0d26-4a2e-8a1f-6e3c8a2b3d22';
export const BASE = '7c346549-f8c6-406a-809e-72392ed69b41';

export type Environment = 'default' | 'staging';

/** The files of a stack, as a team writes them. */
export type Files = {
  readonly agents: { readonly [key: string]: Fields };
  readonly policies: { readonly [key: string]: Fields };
  readonly voices: { readonly [key: string]: Fields };
  /** Documents of the knowledge base, by key: the text of each. */
  readonly sources: { readonly [key: string]: string };
  /** Prompts by the key of their agent. */
  readonly prompts: { readonly [key: string]: string };
  readonly moved: readonly { readonly from: string; readonly to: string }[];
  readonly forget: readonly string[];
};

export const NO_FILES: Files = {
  agents: {},
  policies: {},
  voices: {},
  sources: {},
  prompts: {},
  moved: [],
  forget: [],
};

const SUFFIX = '${var.suffix}';
const SUFFIXES: Readonly<Record<Environment, string>> = { default: '', staging: ' staging' };

export function isFields(value: Value | undefined): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** A name that is another one in each environment. */
export function nameOf(key: string): string {
  return `${key}${SUFFIX}`;
}

const filled = (all: object) => Object.keys(all).length > 0;

/** Writes the files of a stack, and takes away those that it no longer has. */
export function writeFiles(folder: string, files: Files): void {
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [part, texts] of [
    ['prompts', files.prompts],
    ['docs', files.sources],
  ] as const) {
    rmSync(join(folder, part), { recursive: true, force: true });
    mkdirSync(join(folder, part));
    for (const [key, text] of Object.entries(texts))
      put(`${part}/${key}.${part === 'docs' ? 'txt' : 'md'}`, text);
  }
  put('clip.wav', 'RIFF\0\0\0\0WAVEfmt \0\0\0\0');
  const sources = Object.fromEntries(
    Object.keys(files.sources).map((key) => [key, { file: `docs/${key}.txt` }]),
  );
  put(
    'callsheet.yaml',
    stringify({
      callsheet: 1,
      organizations: { harbor: HARBOR, bay: BAY },
      organization: 'harbor',
      variables: { suffix: { default: SUFFIXES.default } },
      guards: { max_delete: 100, max_change_percent: 100 },
      environments: {
        staging: {
          variables: { suffix: { default: SUFFIXES.staging } },
          state: { file: '.callsheet/staging.json' },
        },
      },
      ...(filled(files.moved) ? { moved: files.moved } : {}),
      ...(filled(files.forget) ? { forget: files.forget } : {}),
      knowledge_bases: { base: { id: BASE, ...(filled(sources) ? { sources } : {}) } },
    }),
  );
  const sections = {
    agents: files.agents,
    retry_policies: files.policies,
    custom_voices: files.voices,
  };
  const written = Object.entries(sections).filter(([, all]) => filled(all));
  put('resources.yaml', stringify(Object.fromEntries(written)));
}

/** The files as they stand on the disk, where the program itself may have written them. */
export function readFiles(folder: string): Files {
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  const settings = parse(text('callsheet.yaml'));
  const resources = parse(text('resources.yaml')) ?? {};
  const texts = (part: string) =>
    Object.fromEntries(
      readdirSync(join(folder, part)).map((name) => [
        name.replace(/\.\w+$/, ''),
        text(`${part}/${name}`),
      ]),
    );
  return {
    agents: resources.agents ?? {},
    policies: resources.retry_policies ?? {},
    voices: resources.custom_voices ?? {},
    sources: texts('docs'),
    prompts: texts('prompts'),
    moved: settings.moved ?? [],
    forget: settings.forget ?? [],
  };
}

/** One resource as an environment wants it: the names in full, the files read, without what is for the program alone. */
export type Wanted = {
  readonly address: string;
  readonly section: 'agents' | 'policies' | 'voices' | 'sources';
  /** By which it is found where no id is known. */
  readonly name: string;
  readonly organization: string;
  readonly fields: Fields;
  readonly ignored: readonly string[];
  readonly isProtected: boolean;
};

export function wantedIn(files: Files, environment: Environment): readonly Wanted[] {
  const full = (value: Value): Value => {
    if (typeof value === 'string') return value.replaceAll(SUFFIX, SUFFIXES[environment]);
    if (isArray(value)) return value.map(full);
    if (!isFields(value)) return value;
    if (typeof value.$file === 'string')
      return files.prompts[value.$file.replace(/^prompts\/|\.md$/g, '')] ?? '';
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, full(one)]));
  };
  const resource = (kind: string, section: 'agents' | 'policies' | 'voices') =>
    Object.entries(files[section]).map(([key, written]): Wanted => {
      const { lifecycle, organization, ...rest } = full(written) as Fields;
      const { ignore, protect } = isFields(lifecycle) ? lifecycle : {};
      return {
        address: `${kind}.${key}`,
        section,
        name: String(rest.name),
        organization: organization === 'bay' ? BAY : HARBOR,
        fields: rest,
        ignored: isArray(ignore) ? ignore.map(String) : [],
        isProtected: protect === true,
      };
    });
  const sources = Object.entries(files.sources).map(
    ([key, text]): Wanted => ({
      address: `knowledge_source.base.${key}`,
      section: 'sources',
      name: `${key}.txt`,
      organization: HARBOR,
      fields: { text },
      ignored: [],
      isProtected: false,
    }),
  );
  return [
    ...resource('agent', 'agents'),
    ...resource('retry_policy', 'policies'),
    ...resource('custom_voice', 'voices'),
    ...sources,
  ];
}
