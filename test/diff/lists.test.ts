import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/value.ts';
import { compares, findingsOf, partially } from './rows.ts';

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'webhook',
  name,
  condition: 'during_call',
  method: 'GET',
  url: `https://${name}.example.test`,
  ...more,
});
const tools = (...list: readonly JsonObject[]) => ({ extensions: { tools: list } });
const headers = (...keys: readonly string[]) => ({
  headers: keys.map((key) => ({ key, value: `${key} value` })),
});
const CRM = tool('crm');
const OLD = tool('old');
const at = (name: string) => `extensions.tools[${name}]`;

describe('an element of a list that the configuration declares', () => {
  compares([
    {
      title: 'that only the platform has is drift, where the list was written before',
      applied: tools(CRM),
      desired: tools(CRM),
      live: tools(CRM, OLD),
      finds: { [at('old')]: 'drifted' },
    },
    {
      title: 'that only the platform has is drift, where the list was written empty',
      applied: tools(),
      desired: tools(),
      live: tools(OLD),
      finds: { [at('old')]: 'drifted' },
    },
    {
      title: 'that only the platform has is a change, where the list was not owned before',
      applied: {},
      desired: tools(CRM),
      live: tools(CRM, OLD),
      finds: { [at('old')]: 'changed' },
    },
    {
      title: 'that only the platform has is a change, where there is no state',
      desired: tools(CRM),
      live: tools(CRM, OLD),
      finds: { [at('old')]: 'changed' },
    },
    {
      title: 'that was written and is no longer configured is cleared',
      applied: tools(CRM, OLD),
      desired: tools(CRM),
      live: tools(CRM, OLD),
      finds: { [at('old')]: 'cleared' },
    },
    {
      title: 'that was written, is no longer configured and was edited is a conflict',
      applied: tools(CRM, OLD),
      desired: tools(CRM),
      live: tools(CRM, { ...OLD, url: 'https://edited.example.test' }),
      finds: { [at('old')]: 'conflict' },
    },
    {
      title: 'that goes with its whole list is cleared as one',
      applied: tools(CRM, OLD),
      desired: {},
      live: tools(CRM, OLD),
      finds: { [at('crm')]: 'cleared', [at('old')]: 'cleared' },
    },
    {
      title: 'that is not ours stays where the list is no longer configured',
      applied: tools(CRM),
      desired: {},
      live: tools(CRM, OLD),
      finds: { [at('crm')]: 'cleared' },
    },
    {
      title: 'that goes because the list is empty now is cleared',
      applied: tools(OLD),
      desired: tools(),
      live: tools(OLD),
      finds: { [at('old')]: 'cleared' },
    },
    {
      title: 'that somebody took away is drift of each of its leaves',
      applied: tools(CRM),
      desired: tools(CRM),
      live: {},
      finds: Object.fromEntries(Object.keys(CRM).map((key) => [`${at('crm')}.${key}`, 'drifted'])),
    },
    {
      title: 'that is renamed goes and comes',
      applied: tools(OLD),
      desired: tools(CRM),
      live: tools(OLD),
      finds: {
        ...Object.fromEntries(Object.keys(CRM).map((key) => [`${at('crm')}.${key}`, 'changed'])),
        [at('old')]: 'cleared',
      },
    },
    {
      title: 'keeps members that are not configured',
      applied: tools(CRM),
      desired: tools(CRM),
      live: tools({ ...CRM, friendlyName: 'CRM', ...headers('X-Key') }),
      finds: {},
    },
    {
      title: 'that nothing is left of on either side finds nothing',
      applied: tools(OLD),
      desired: {},
      live: {},
      finds: {},
    },
  ]);
});

describe('a list inside an element', () => {
  compares([
    {
      title: 'loses an element',
      applied: tools({ ...CRM, ...headers('A', 'B') }),
      desired: tools({ ...CRM, ...headers('A') }),
      live: tools({ ...CRM, ...headers('A', 'B') }),
      finds: { [`${at('crm')}.headers[B]`]: 'cleared' },
    },
    {
      title: 'has an element that only the platform has',
      applied: tools({ ...CRM, ...headers('A') }),
      desired: tools({ ...CRM, ...headers('A') }),
      live: tools({ ...CRM, ...headers('A', 'B') }),
      finds: { [`${at('crm')}.headers[B]`]: 'drifted' },
    },
    {
      title: 'that is no longer configured loses what was written, element by element',
      applied: tools({ ...CRM, ...headers('A') }),
      desired: tools(CRM),
      live: tools({ ...CRM, ...headers('A', 'B') }),
      finds: { [`${at('crm')}.headers[A]`]: 'cleared' },
    },
    {
      title: 'of an element that goes, goes with it',
      applied: tools(CRM, { ...OLD, ...headers('A') }),
      desired: tools(CRM),
      live: tools(CRM, { ...OLD, ...headers('A') }),
      finds: { [at('old')]: 'cleared' },
    },
  ]);
});

describe('lifecycle.ignore', () => {
  const ignore = (...paths: readonly string[]) => ({ lifecycle: { ignore: paths } });
  compares([
    {
      title: 'leaves a field alone',
      applied: {},
      desired: { greeting_message: 'Hello', ...ignore('greeting_message') },
      live: { greeting_message: 'Hi' },
      finds: {},
    },
    {
      title: 'leaves what lies below a field alone',
      desired: { voice_settings: { speed: 1 }, ...ignore('voice_settings') },
      live: { voice_settings: { speed: 2 } },
      finds: {},
    },
    {
      title: 'leaves one field of one element alone',
      desired: { ...tools(CRM), ...ignore('extensions.tools[crm].url') },
      live: tools({ ...CRM, url: 'https://other.example.test', method: 'POST' }),
      finds: { [`${at('crm')}.method`]: 'changed' },
    },
    {
      title: 'leaves one element alone, quoted or not',
      desired: { ...tools(CRM), ...ignore('extensions.tools["old"]') },
      live: tools(CRM, OLD),
      finds: {},
    },
    {
      title: 'leaves a list alone',
      applied: tools(OLD),
      desired: { ...tools(CRM), ...ignore('extensions.tools') },
      live: tools(OLD),
      finds: {},
    },
    {
      title: 'does not clear what it used to write',
      applied: { greeting_message: 'Hello' },
      desired: ignore('greeting_message'),
      live: { greeting_message: 'Hello' },
      finds: {},
    },
    {
      title: 'does not keep an element for the sake of one of its fields',
      desired: { ...tools(CRM), ...ignore('extensions.tools[old].url') },
      live: tools(CRM, OLD),
      finds: { [at('old')]: 'changed' },
    },
    {
      title: 'leaves only that field alone, not one whose name begins alike',
      desired: { email_tool_enabled: true, email: ['a@x.test'], ...ignore('email') },
      live: {},
      finds: { email_tool_enabled: 'changed' },
    },
  ]);
});

describe('a document that mentions only a part', () => {
  compares([
    {
      title: 'owns the lists that it mentions as a whole',
      applied: tools(CRM, OLD),
      desired: tools(CRM),
      live: tools(CRM, OLD),
      having: partially,
      finds: { [at('old')]: 'cleared' },
    },
    {
      title: 'leaves other lists alone',
      applied: tools(CRM),
      desired: {},
      live: tools(CRM),
      having: partially,
      finds: {},
    },
  ]);
});

test('an element that goes is shown whole, and is sensitive where a value in it is', async () => {
  const live = tools(CRM, { ...OLD, ...headers('X-Key') });
  const [found] = await findingsOf({ title: '', desired: tools(CRM), live, finds: {} });
  expect(found).toMatchObject({
    before: live.extensions.tools[1],
    after: undefined,
    sensitive: true,
  });
  const [plain] = await findingsOf({
    title: '',
    desired: tools(CRM),
    live: tools(CRM, OLD),
    finds: {},
  });
  expect(plain).toMatchObject({ before: OLD, sensitive: false });
});
