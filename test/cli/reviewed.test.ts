import { describe, expect } from 'vitest';
import { plan } from '../../src/console/plan.ts';
import { isList, isObject, type JsonObject } from '../../src/core/value.ts';
import { longStaged, type Stage, staged } from '../apply/stage.ts';
import { agentNamed } from '../e2e/clinic.ts';

/** What a stack can ask for is what its plan shows, and what the plan shows is all that is sent. */

const GREETING = '    greeting_message: Harbor Dental, how can I help?\n';
const under = (fields: string) => `    unchecked: { ${fields} }\n${GREETING}`;

const bodiesOf = (stage: Stage, operation: string) =>
  stage
    .writes()
    .filter((one) => one.operation === operation)
    .map(({ body }) => body);

const desk = ({ sim }: Stage) => agentNamed(sim);

describe('a field under unchecked', () => {
  staged('that the schema knows is refused, in either spelling', async (stage) => {
    await stage.apply();
    const before = stage.sim.requests.length;
    const fields = 'systemPrompt: Lie., status: cancelled, Extensions: {}, is_active: false';
    await stage.edit('agents.yaml', GREETING, under(fields));
    const said = await stage.run((to) => plan({ dir: stage.folder, format: 'text' }, to), {
      exit: 1,
    });
    const err = said.err.replaceAll(/\s+/g, ' ');
    expect(err).toMatch(/agents\.yaml:\d+:\d+/);
    for (const name of ['systemPrompt', 'status', 'Extensions', 'is_active'])
      expect(err).toContain(`unchecked.${name} is a field of the schema`);
    expect(err).toContain('Write system_prompt in the resource itself');
    expect(stage.sim.requests.length).toBe(before);
  });

  staged('is planned, compared, verified and rolled back', async (stage) => {
    await stage.apply();
    await stage.edit('agents.yaml', GREETING, under('newField: { a: 1 }'));
    const [change] = (await stage.plan()).changes;
    expect(change?.fields).toMatchObject([{ path: 'newField.a', before: null, after: 1 }]);
    await stage.apply();
    expect(desk(stage).record).toMatchObject({ new_field: { a: 1 } });

    stage.sim.edit(desk(stage).id, { new_field: { a: 2 } });
    const [drifted] = (await stage.plan()).changes;
    expect(drifted?.fields).toMatchObject([
      { path: 'newField.a', before: 2, after: 1, cause: 'drifted' },
    ]);
    await stage.apply();

    await stage.edit('agents.yaml', 'newField: { a: 1 }', 'newField: { a: 3 }');
    await stage.apply();
    await stage.rollback();
    expect(desk(stage).record).toMatchObject({ new_field: { a: 1 } });
  });

  staged('that is taken away is cleared', async (stage) => {
    await stage.edit('agents.yaml', GREETING, under('newField: 7'));
    await stage.apply();
    await stage.edit('agents.yaml', under('newField: 7'), GREETING);
    await stage.apply();
    expect(desk(stage).record.new_field ?? null).toBeNull();
  });

  staged(
    'that the platform does not return is sent once, and said to be unverified',
    async (stage) => {
      await stage.edit('agents.yaml', GREETING, under('newField: 7'));
      const made = await stage.apply();
      expect(JSON.stringify(made)).toContain(
        'newField was sent, but the platform does not return it, so Callsheet cannot verify it',
      );
      await stage.edit('agents.yaml', 'newField: 7', 'newField: 8');
      const shown = await stage.plan();
      expect(shown.changes[0]?.fields).toMatchObject([{ path: 'newField', before: 7, after: 8 }]);
      expect(JSON.stringify(shown.notes)).toContain('Callsheet cannot verify the write');
      await stage.apply();
      expect(bodiesOf(stage, 'updateAgent')).toEqual([{ newField: 8 }]);
      await stage.rollback();
      expect(bodiesOf(stage, 'updateAgent').at(-1)).toEqual({ newField: 7 });
    },
    { dialect: { newFields: 'dropped' } },
  );
});

describe('what stands beside a change', () => {
  longStaged(
    'is not sent to the payment tool, which would take defaults for its own',
    async (stage) => {
      await stage.apply();
      const payments = `    payments: { tool_enabled: true }\n${GREETING}`;
      await stage.edit('agents.yaml', GREETING, payments);
      await stage.apply({}, { exit: 'any' });
      expect(bodiesOf(stage, 'setPaymentTool')).toEqual([{ enabled: true }]);
    },
  );

  staged(
    'is said by the plan where its form is only assumed, and compared afterwards',
    async (stage) => {
      await stage.apply();
      const [server = {}] = serversOf(desk(stage).record);
      const calls = [{ tool_name: 'look', arguments: { id: 1 }, input_schema: { type: 'object' } }];
      stage.sim.edit(desk(stage).id, {
        extensions: {
          ...extensionsOf(desk(stage).record),
          mcp_servers: [{ ...server, pre_answer_calls: calls }],
        },
      });
      await stage.edit(
        'agents.yaml',
        'url: https://crm.example.test/patients',
        'url: https://crm.example.test/v2',
      );
      const planned = await stage.plan();
      expect(planned.changes[0]?.fields.map(({ path }) => path)).toEqual([
        'extensions.tools[crm_lookup].url',
      ]);
      expect(planned.assumptions).toContain('mcp.write-shape');
      await stage.apply();
      expect(serversOf(desk(stage).record)[0]).toMatchObject({ pre_answer_calls: calls });
    },
  );
});

const extensionsOf = (record: JsonObject): JsonObject =>
  isObject(record.extensions) ? record.extensions : {};
function serversOf(record: JsonObject): readonly JsonObject[] {
  const { mcp_servers: servers } = extensionsOf(record);
  return isList(servers) ? servers.filter((one) => isObject(one)) : [];
}
