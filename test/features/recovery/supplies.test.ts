import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gatherSupplies } from '../../../src/features/recovery/supplies.ts';
import { openMedia } from '../../../src/snapshot/file.ts';
import { quietContext } from '../../cli/quiet-context.ts';
import { temporaryFolder } from '../../temporary.ts';
import { put } from '../fleet/tree.ts';
import { held } from './held.ts';

/** The files of an empty snapshot. */
const NO_MEDIA = openMedia(async function* () {});

const PATH = 'integrations.smsProvider.auth_token';
const VARIABLE = 'AGENT_NORTH_SIDE_SMS_AUTH_TOKEN';

/** Supplies for an agent at each address, with an account of its own where none is given. */
function supplies(addresses: readonly string[], secrets?: string, account?: string) {
  const all = addresses.map((address, index) => {
    const smsProvider = { account_sid: account ?? `AC0${index}` };
    const document = () => ({ integrations: { smsProvider } });
    return [held(`id-${index}`, address.slice(6), { document, secrets: [PATH] }), address] as const;
  });
  const context = { ...quietContext().context, env: { [VARIABLE]: 'value' } };
  const flags = secrets === undefined ? {} : { secrets };
  const holding = { media: NO_MEDIA, organizations: new Map() };
  return gatherSupplies(new Map(all), new Map(all), flags, undefined, holding, context);
}

test('a variable is taken for the one secret that it stands for', async () => {
  const { secretAt } = await supplies(['agent.north_side', 'agent.south']);
  expect(secretAt('agent.north_side', PATH)).toBeDefined();
  expect(secretAt('agent.south', PATH)).toBeUndefined();
});

test.each<readonly [readonly string[], string | undefined, readonly string[]]>([
  [['agent.desk'], undefined, ['AGENT_SMS_AUTH_TOKEN']],
  // One account has one token.
  [['agent.north', 'agent.south'], 'AC01', ['AGENT_SMS_AUTH_TOKEN']],
  [
    ['agent.north', 'agent.south'],
    undefined,
    ['AGENT_NORTH_SMS_AUTH_TOKEN', 'AGENT_SOUTH_SMS_AUTH_TOKEN'],
  ],
  // Addresses may differ by what the name of a variable cannot tell.
  [['agent.a_b', 'agent.a-b'], undefined, ['AGENT_SMS_AUTH_TOKEN_1', 'AGENT_SMS_AUTH_TOKEN_2']],
])(
  'the variables of %j, of account %s, are called as in an export',
  async (addresses, account, names) => {
    const { variableAt } = await supplies(addresses, undefined, account);
    expect([...new Set(addresses.map((address) => variableAt(address, PATH)))].sort()).toEqual(
      names,
    );
  },
);

test.each<readonly [string, string | undefined]>([
  ['agent.north_side', undefined],
  ['agent', undefined],
  ['sms_template', undefined],
  ["'*'", undefined],
  ['agent.nort_side', 'does not contain: agent.nort_side'],
  ['agents', 'does not contain: agents'],
])('a file of secrets that names %s', async (pattern, refused) => {
  const folder = temporaryFolder();
  const file = join(folder, 'secrets.yaml');
  writeFileSync(file, `${pattern}:\n  ${PATH}: env:${VARIABLE}\n`);
  const gathered = supplies(['agent.north_side'], file);
  if (refused === undefined) expect((await gathered).secretValues.length).toBeLessThan(2);
  else await expect(gathered).rejects.toThrow(refused);
});

/** Two documents or voices of the same name, in places of their own, and files that may be theirs. */
const TWINS = [
  {
    kind: 'knowledge_source',
    field: 'file',
    scope: 'knowledge_base_id',
    name: 'prices.md',
    file: 'prices.md',
  },
  {
    kind: 'custom_voice',
    field: 'clip',
    scope: 'organization_id',
    name: 'Front desk',
    file: 'Front desk.wav',
  },
] as const;

const LAYOUTS: readonly {
  readonly layout: string;
  /** Paths in the folder, from those of the resources. */
  readonly paths: (file: string, ids: readonly [string, string]) => readonly string[];
  /** How each is answered. */
  readonly found: readonly ['own' | 'shared' | 'none', 'own' | 'shared' | 'none'];
}[] = [
  { layout: 'one file for both', paths: (file) => [file], found: ['shared', 'shared'] },
  {
    layout: 'a file in the folder of each',
    paths: (file) => [`east/${file}`, `west/${file}`],
    found: ['own', 'own'],
  },
  {
    layout: 'a file in the folder of one',
    paths: (file) => [`east/${file}`],
    found: ['own', 'none'],
  },
  {
    layout: 'a file in the folder of one, and one outside',
    paths: (file) => [`east/${file}`, file],
    found: ['own', 'own'],
  },
  {
    layout: 'files by their ids',
    paths: (file, ids) => ids.map((id) => `${id}${file.slice(file.lastIndexOf('.'))}`),
    found: ['own', 'own'],
  },
  {
    layout: 'a file in the folder of neither',
    paths: (file) => [`north/${file}`],
    found: ['none', 'none'],
  },
];

test.each(TWINS.flatMap((twins) => LAYOUTS.map((layout) => ({ ...twins, ...layout }))))(
  '$kind: $layout',
  async ({ kind, field, scope, name, file, paths, found }) => {
    const folder = temporaryFolder();
    const twins = ['east', 'west'].map((place) => {
      const document = () => ({ name, ...(kind === 'custom_voice' ? { consent: true } : {}) });
      return held(`id-${place}`, name, { kind, scope: { [scope]: place }, document });
    });
    const [east, west] = twins;
    if (east === undefined || west === undefined) throw new Error('there are two');
    for (const path of paths(file, [east.id, west.id]))
      put(folder, path, `RIFF    WAVE of ${path}`);
    const all = new Map(twins.map((one) => [one, `${kind}.${one.id}`] as const));
    const context = { ...quietContext().context, env: {} };
    const holding = { media: NO_MEDIA, organizations: new Map() };
    // Only one is restored: the other wants its file all the same.
    for (const chosen of [twins, [east], [west]]) {
      const some = new Map(chosen.map((one) => [one, all.get(one) ?? '']));
      const supplies = await gatherSupplies(
        some,
        all,
        { media: folder },
        undefined,
        holding,
        context,
      );
      const answers = twins.map((one) => {
        const blob = supplies.fileFor(one, all.get(one) ?? '', field);
        return blob === undefined
          ? (supplies.sharedFile(one)?.wantedBy.length ?? 'none')
          : blob.path;
      });
      expect(new Set(answers.filter((one) => typeof one === 'string' && one !== 'none')).size).toBe(
        found.filter((one) => one === 'own').length,
      );
      expect(answers.map((one) => (one === 2 ? 'shared' : one === 'none' ? one : 'own'))).toEqual(
        found,
      );
    }
  },
);
