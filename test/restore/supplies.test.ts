import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gatherSupplies } from '../../src/restore/supplies.ts';
import { quietContext } from '../cli/quiet-context.ts';
import { temporaryFolder } from '../temporary.ts';
import { held } from './held.ts';

const PATH = 'integrations.smsProvider.auth_token';
const VARIABLE = 'CALLSHEET_SECRET_AGENT_NORTH_SIDE_INTEGRATIONS_SMSPROVIDER_AUTH_TOKEN';

function supplies(addresses: readonly string[], secrets?: string) {
  const document = () => ({ integrations: { smsProvider: { account_sid: 'AC01' } } });
  const all = addresses.map(
    (address, index) =>
      [held(`id-${index}`, address, { document, secrets: [PATH] }), address] as const,
  );
  const context = { ...quietContext().context, env: { [VARIABLE]: 'value' } };
  const flags = secrets === undefined ? {} : { secrets };
  return gatherSupplies(new Map(all), addresses, flags, undefined, new Map(), context);
}

test('a variable is taken for the one secret that it stands for', async () => {
  const { secretAt } = await supplies(['agent.north_side', 'agent.south']);
  expect(secretAt('agent.north_side', PATH)).toBeDefined();
  expect(secretAt('agent.south', PATH)).toBeUndefined();
});

test('a variable that stands for two secrets is refused: one of them would go to another agent', async () => {
  await expect(supplies(['agent.north_side', 'agent.north-side'])).rejects.toThrow(
    `${VARIABLE} is used for two secrets: agent.north_side ${PATH} and agent.north-side ${PATH}`,
  );
});

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
