import { join } from 'node:path';
import { expect } from 'vitest';
import { assumptions } from '../../src/cli/commands/assumptions.ts';
import { assumptions as ledger } from '../../src/platform/operations.generated.ts';
import type { AssumptionEntry } from '../../src/render/assumptions.ts';
import { type Stage, staged } from '../apply/stage.ts';

async function entries(stage: Stage): Promise<ReadonlyMap<string, AssumptionEntry>> {
  const flags = { dir: stage.folder, format: 'json' } as const;
  const { out } = await stage.run((to) => assumptions([], flags, to));
  const document: { readonly assumptions: readonly AssumptionEntry[] } = JSON.parse(out);
  return new Map(document.assumptions.map((entry) => [entry.id, entry]));
}

async function says(stage: Stage, ...names: readonly string[]): Promise<string> {
  const flags = { dir: stage.folder, format: 'text', verbose: names.length === 0 } as const;
  const { out } = await stage.run((to) => assumptions(names, flags, to));
  return out.replace(/\s+/g, ' ');
}

const platform = (stage: Stage, more: string) =>
  stage.edit('callsheet.yaml', '"${var.base_url}" }', `"\${var.base_url}", ${more} }`);

staged('every assumption is told, with what rests on it', async (stage) => {
  const all = await entries(stage);
  expect([...all.keys()]).toEqual(Object.keys(ledger));
  for (const [id, { documented, assumed, why }] of all) {
    expect(
      [documented, assumed, why].every((text) => text.length > 0),
      id,
    ).toBe(true);
  }
  expect(all.get('retry_policy.create')?.operations).toEqual([
    {
      operation: 'createRetryPolicy',
      method: 'POST',
      path: '/v1/retry-policies',
      standing: 'assumed',
    },
  ]);
  expect(all.get('mcp.write-shape')?.fields).toEqual(['agent.extensions.mcp_servers']);
  // Only its shape is assumed.
  expect(all.get('payments.tool-body')?.operations[0]?.standing).toBe('shown');
  expect(await says(stage)).toContain('calls POST /v1/retry-policies (createRetryPolicy)');
  expect(stage.sim.requests).toEqual([]);
});

staged('inside a stack it says what the stack refuses and what it overrides', async (stage) => {
  await platform(stage, 'assume: false, endpoints: { createRetryPolicy: { path: /v2/policies } }');
  const all = await entries(stage);
  expect(all.get('retry_policy.create')?.operations[0]).toMatchObject({
    path: '/v2/policies',
    standing: 'overridden',
  });
  expect(all.get('sms_template.list')?.operations[0]?.standing).toBe('refused');
  // Where it is, is shown, and its body is not.
  expect(all.get('payments.tool-body')?.operations[0]?.standing).toBe('refused');
  const text = await says(stage);
  expect(text).toContain('POST /v2/policies (createRetryPolicy: platform.endpoints says so)');
  expect(text).toContain('(listSmsTemplates: refused by platform.assume: false)');
});

staged('without names: those that the stack relies on, in a line each', async (stage) => {
  const flags = { dir: stage.folder, format: 'text' } as const;
  const { out } = await stage.run((to) => assumptions([], flags, to));
  const relied = [...(await entries(stage)).values()].filter((entry) => entry.relied_on);
  const [head, ...lines] = out.split('\n\n')[0]?.split('\n') ?? [];
  expect(head).toBe(`This stack relies on ${relied.length} assumptions:`);
  expect(lines.map((line) => line.trim().split(' ')[0])).toEqual(relied.map(({ id }) => id));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  expect(relied.map(({ id }) => id)).toContain('retry_policy.create');
  // Nothing of the stack is a voice.
  expect(relied.map(({ id }) => id)).not.toContain('custom_voice.language');
  expect(out).toContain('`callsheet explain assumptions NAME` shows one');
});

staged('an assumption by its name, several by how their names begin', async (stage) => {
  expect(await says(stage, 'retry_policy.create')).toMatch(
    /^retry_policy\.create documented .* why .* POST \/v1\/retry-policies \(createRetryPolicy\) $/,
  );
  const flags = { dir: stage.folder, format: 'json' } as const;
  const { out } = await stage.run((to) => assumptions(['history', 'agent.merge'], flags, to));
  const found = JSON.parse(out).assumptions.map(({ id }: AssumptionEntry) => id);
  expect(found.toSorted()).toEqual([
    'agent.merge',
    'history.entries',
    'history.list-shape',
    'history.recorded',
  ]);
  const { err } = await stage.run(
    (to) => assumptions(['agent.merg'], { dir: stage.folder, format: 'text' }, to),
    { exit: 1 },
  );
  expect(err).toContain('no assumption is called agent.merg');
  expect(err).toContain('Did you mean agent.merge?');
});

staged('a stack whose settings are wrong is an error', async (stage) => {
  await platform(stage, 'endpoints: { createRetryPolcy: {} }');
  const flags = { dir: stage.folder, format: 'text' } as const;
  const { err } = await stage.run((to) => assumptions([], flags, to), { exit: 1 });
  expect(err).toContain('Did you mean createRetryPolicy?');
});

staged('a folder that was named and holds no stack is an error', async (stage) => {
  const flags = { dir: join(stage.folder, 'prompts'), format: 'text' } as const;
  const { err } = await stage.run((to) => assumptions([], flags, to), { exit: 1 });
  expect(err).toContain('callsheet.yaml');
});
