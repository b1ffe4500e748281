import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Address } from '../../../../src/core/address.ts';
import type { Change } from '../../../../src/core/plan-document.ts';
import { Blob, isList, isObject, Ref, Secret, type Value } from '../../../../src/core/value.ts';
import { compare, isWritten, type LeafChange } from '../../../../src/diff/compare.ts';
import { NO_FINGERPRINTS, type World } from '../../../../src/diff/leaves.ts';
import { type Writable, writeResources } from '../../../../src/features/writing/edit/write.ts';
import { pullLive } from '../../../../src/features/writing/pull/index.ts';
import { kindNamed, kinds } from '../../../../src/kinds/index.ts';
import type { Planned } from '../../../../src/plan/make.ts';
import { loadStack, type Stack } from '../../../../src/stack/index.ts';
import { runs, timeFor } from '../../../long.ts';
import { BAY, folderOf, HARBOR, MAIN } from '../../../stack/stack-folder.ts';
import { BLANKS, STACK_FILES, stacks } from '../edit/stacks.ts';

/** More with CALLSHEET_RUNS=500. */
const RUNS = Number(process.env.CALLSHEET_RUNS ?? runs(20));
/** The same cases in every run; others with CALLSHEET_SEED. */
const SEED = Number(process.env.CALLSHEET_SEED ?? 4711);

const OPTIONS = { kinds, organizations: { harbor: HARBOR, bay: BAY }, organization: HARBOR };

/** The id that a resource would have. */
function idOf(address: Address): string {
  const hex = createHash('sha256').update(address).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

const WORLD: World = {
  findId: idOf,
  findSecret: (source) => `value of ${source}`,
  fingerprints: NO_FINGERPRINTS,
};

/** A document as the platform would return it: ids for references, nothing of secrets and files. */
function asLive(value: Value): Value | undefined {
  if (value instanceof Ref) return idOf(value.address);
  if (value instanceof Secret) return WORLD.findSecret(value.source, '');
  if (value instanceof Blob) return undefined;
  if (isList(value)) return value.map((item) => asLive(item) ?? null);
  if (!isObject(value)) return value;
  const members = Object.entries(value).flatMap(([key, member]) => {
    const live = asLive(member);
    return live === undefined ? [] : [[key, live] as const];
  });
  return Object.fromEntries(members);
}

type Live = ReadonlyMap<Address, { readonly [key: string]: Value }>;

/** What is live where the fields that `isMoved` picks are those of another stack. */
function mixed(
  stack: Stack,
  others: readonly Writable[],
  isMoved: (address: Address, field: string) => boolean,
): Live {
  const byAddress = new Map(others.map((other) => [other.address, other.document]));
  return new Map(
    stack.resources.map(({ address, document }) => {
      const other = byAddress.get(address) ?? {};
      const fields = Object.entries(document).map(([field, value]) => {
        const moved =
          field !== 'organization_id' && isMoved(address, field) ? other[field] : undefined;
        return [field, asLive(moved ?? value)] as const;
      });
      return [address, Object.fromEntries(fields.filter(([, value]) => value !== undefined))];
    }) as readonly [Address, { readonly [key: string]: Value }][],
  );
}

function differences(stack: Stack, live: Live): ReadonlyMap<Address, readonly LeafChange[]> {
  return new Map(
    stack.resources.map(({ address, kind, document }) => {
      const sides = { address, applied: undefined, ignore: [], isPartial: false, resend: false };
      const found = compare(
        kindNamed(kind).schema,
        document,
        (live.get(address) ?? {}) as never,
        sides,
        WORLD,
      );
      return [address, found.filter(isWritten)];
    }),
  );
}

function plannedOf(stack: Stack, found: Planned['found']): Planned {
  const changes = stack.resources.map(({ address, kind }) => ({
    address,
    kind,
    adopted: true,
    action: 'update',
    verdict: 'ok',
    missing_id: null,
    fields: [],
  })) as unknown as readonly Change[];
  const ids = new Map(stack.resources.map(({ address }) => [address, idOf(address)]));
  return { plan: { changes } as Planned['plan'], refresh: new Map(), ids, found, unread: 0 };
}

/** Comments wherever one may stand without a doubt, each a text of its own. */
function commented(text: string): string {
  let count = 0;
  const note = () => {
    count += 1;
    return `# note ${count}`;
  };
  return text
    .split('\n')
    .flatMap((line) => {
      if (/^ {2}[\w-]+:$/.test(line)) return [`  ${note()}`, line];
      return /^ {4}\w+: [\w][^#:]*$/.test(line) ? [`${line}   ${note()}`] : [line];
    })
    .join('\n');
}

/** The lines of each resource, by its name and how often that came up. */
function blocksOf(text: string): ReadonlyMap<string, string> {
  const blocks = new Map<string, string>();
  let section = '';
  for (const part of text.split(/^(?=\w+:|(?: {2}# note \d+\r?\n)? {2}[\w-]+:)/m)) {
    const name = /^(?: {2}#[^\n]*\n)? *([\w-]+):/.exec(part)?.[1] ?? '';
    if (/^\w/.test(part)) section = name;
    blocks.set(`${section} ${name}`, part);
  }
  return blocks;
}

/** The same resources with other texts. */
const PLAIN: readonly Writable[] = BLANKS.map((one) => ({
  ...one,
  document: { ...one.document, greeting_message: 'Hi', system_prompt: 'Be\nkind.\n', lists: ['a'] },
}));

function* always<T>(value: T): Generator<T, never> {
  while (true) yield value;
}

test('whatever is edited, pull makes the next plan empty and leaves all else as it is', {
  timeout: timeFor(RUNS),
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      stacks,
      stacks,
      fc.infiniteStream(fc.boolean()),
      fc.boolean(),
      fc.boolean(),
      async (before, after, coins, isWindows, inFiles) => {
        let count = 0;
        const fileFor = ({ text }: { text: string }) => {
          count += 1;
          return inFiles && text.length % 2 === 0 ? `texts/${count}.md` : undefined;
        };
        const { text, files } = writeResources(before, { ...OPTIONS, fileFor });
        const lines = commented(text);
        const yaml = isWindows ? lines.replaceAll('\n', '\r\n') : lines;
        const dir = folderOf({
          'callsheet.yaml': MAIN,
          ...STACK_FILES,
          ...Object.fromEntries(files),
          'all.yaml': yaml,
        });
        const load = (instead?: ReadonlyMap<string, string>) =>
          loadStack({ dir, env: {}, secrets: 'skip', ...(instead && { instead }) });
        const { stack, diagnostics } = await load();
        if (stack === undefined) throw new Error(JSON.stringify(diagnostics));
        const live = mixed(stack, after, () => coins.next().value === true);
        const found = differences(stack, live);
        const reload = (texts: ReadonlyMap<string, string>) =>
          load(new Map([...texts].map(([file, own]) => [`${dir}/${file}`, own])));
        const pulled = await pullLive({
          stack,
          planned: plannedOf(stack, found),
          theirs: false,
          merge: false,
          typed: (command) => command,
          choose: () => undefined,
          textOf: (file) => files.get(file) ?? '',
          reload,
        });
        const texts = new Map([...pulled.files].map(([file, own]) => [file, own.after]));
        const read = (await reload(texts)).stack;
        const left = read === undefined ? [] : [...differences(read, live)];
        const words = pulled.refused.map(({ reason }) => reason);
        expect(words.filter((one) => !/secret|not valid|cannot hold|reads like/.test(one))).toEqual(
          [],
        );
        const refused = new Set(pulled.refused.map(({ address, path }) => `${address} ${path}`));
        const open = left.flatMap(([address, leaves]) =>
          leaves.map((leaf) => `${address} ${leaf.text}`),
        );
        // What is left was refused, with a reason; secrets and what is not valid here are.
        expect(open.filter((one) => ![...refused].some((path) => one.startsWith(path)))).toEqual(
          [],
        );
        const own = texts.get('all.yaml') ?? yaml;
        const changed = new Set(pulled.pulled.map(({ address }) => address.split('.').at(-1)));
        const blocks = blocksOf(own);
        for (const [name, block] of blocksOf(yaml)) {
          if (!changed.has(name.split(' ')[1])) expect(blocks.get(name)).toBe(block);
        }
        expect(own.match(/ # note \d+/g)).toEqual(yaml.match(/ # note \d+/g));
        expect(/(^|[^\r])\n/.test(own) && isWindows).toBe(false);
      },
    ),
    {
      seed: SEED,
      numRuns: RUNS,
      endOnFailure: process.env.CALLSHEET_SHRINK === '0',
      examples: [
        [PLAIN, BLANKS, fc.stream(always(true)), false, false],
        [BLANKS, PLAIN, fc.stream(always(true)), true, true],
      ],
    },
  );
});
