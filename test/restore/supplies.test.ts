import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gatherSupplies } from '../../src/restore/supplies.ts';
import { quietContext } from '../cli/quiet-context.ts';
import { temporaryFolder } from '../temporary.ts';
import { held } from './held.ts';

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
  const holding = { media: new Map(), organizations: new Map() };
  return gatherSupplies(new Map(all), addresses, flags, undefined, holding, context);
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
