import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { get } from '../../../src/features/reading/get.ts';
import { history } from '../../../src/features/reading/history.ts';
import { type Stage, staged } from '../../apply/stage.ts';
import { openKeyed } from '../../state/keyed.ts';

const flagsOf = ({ folder }: Stage) => ({ dir: folder, format: 'json' as const });

async function getOne(stage: Stage, kind: string, wanted?: string): Promise<unknown> {
  const { out } = await stage.run((to) => get(kind, wanted, flagsOf(stage), to));
  return JSON.parse(out).data.name;
}

/** Every file of the stack with what it holds. */
async function contents({ folder }: Stage): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = join(parentPath, name);
      return `${file}\n${await readFile(file, 'utf8')}`;
    }),
  );
}

describe('the stack', () => {
  const rows = [
    ['agents', 'agent.desk', 'Front desk'],
    ['retry_policies', 'retry_policy.gentle', 'Gentle redial'],
    ['voices', 'custom_voice.harbor', 'Harbor'],
    ['sources', 'knowledge_source.clinic.prices', 'prices.csv'],
    ['sources', 'knowledge_source.clinic.faq', 'https://harbor.example.test/faq'],
  ] as const;

  staged('has addresses, found through the state, also under another name', async (stage) => {
    await stage.apply();
    for (const [kind, address, name] of rows) {
      expect(await getOne(stage, kind, address)).toBe(name);
      // An address says its kind.
      expect(await getOne(stage, address)).toBe(name);
    }
    expect(await getOne(stage, 'agents.desk')).toBe('Front desk');
    await stage.edit('agents.yaml', 'name: Front desk', 'name: New desk');
    expect(await getOne(stage, 'agents', 'agent.desk')).toBe('Front desk');
    // Nor does a resource that is wrong stand in the way.
    await stage.edit('agents.yaml', 'status: active', 'status: asleep');
    expect(await getOne(stage, 'agents', 'agent.desk')).toBe('Front desk');
    stage.sim.store.agents.clear();
    const { err } = await stage.run((to) => get('agent', 'agent.desk', flagsOf(stage), to), {
      exit: 1,
    });
    expect(err).toContain('there is no agent agent.desk (');
  });

  staged('has addresses that were moved and not applied yet', async (stage) => {
    await stage.apply();
    await stage.edit(
      'agents.yaml',
      '  desk:\n    name: Front desk',
      '  front:\n    name: New desk',
    );
    await writeFile(
      join(stage.folder, 'moved.yaml'),
      'moved: [{ from: agent.desk, to: agent.front }]\n',
    );
    expect(await getOne(stage, 'agent.front')).toBe('Front desk');
  });

  staged('has addresses, found by name where the state was thrown away', async (stage) => {
    await stage.apply();
    await stage.forget();
    for (const [kind, address, name] of rows) {
      expect(await getOne(stage, kind, address)).toBe(name);
    }
  });

  staged('has rows, with and without the quotes that a shell takes away', async (stage) => {
    await writeFile(
      join(stage.folder, 'rows.yaml'),
      "agents: { clinic: { for_each: [{ slug: north }, { slug: south }], key: '${each.slug}', name: 'Clinic ${each.slug}', agent_type: receptionist } }\n",
    );
    await stage.apply();
    for (const row of ['agent.clinic["north"]', 'agent.clinic[north]', 'agents.clinic[north]'])
      expect(await getOne(stage, row)).toBe('Clinic north');
    const all = await stage.run((to) => get('agent.clinic', undefined, flagsOf(stage), to), {
      exit: 1,
    });
    expect(all.err).toContain('agent.clinic has 2 rows; choose one');
    expect(all.err).toContain('For example: \'agent.clinic["north"]\'');
    const two = await stage.run((to) => get('agent.desk', 'agent.clinic', flagsOf(stage), to), {
      exit: 1,
    });
    expect(two.err).toContain('agent.desk is one resource, and agent.clinic another');
  });

  staged('says whose voices and sources are meant', async (stage) => {
    await stage.apply();
    const list = async (kind: string, knowledgeBase?: string) => {
      const flags = { ...flagsOf(stage), ...(knowledgeBase ? { knowledgeBase } : {}) };
      return JSON.parse((await stage.run((to) => get(kind, undefined, flags, to))).out).data;
    };
    expect(await list('voices')).toMatchObject([{ name: 'Harbor' }]);
    expect(await list('sources')).toHaveLength(2);
    expect(await list('sources', 'clinic')).toHaveLength(2);
  });

  staged('that was never applied has nobody behind an address', async (stage) => {
    const { err } = await stage.run((to) => get('agent', 'agent.desk', flagsOf(stage), to), {
      exit: 1,
    });
    expect(err).toContain('agent.desk is not on the platform');
  });
});

staged('nothing is written, and a run that holds the state is not waited for', async (stage) => {
  await stage.apply();
  const store = openKeyed(join(stage.folder, '.callsheet', 'state.json'));
  const lease = await store.acquire({
    run: 'r1',
    command: 'apply',
    user: null,
    host: 'desk',
    pid: process.pid,
    since: '2026-11-21T09:45:00Z',
  });
  try {
    const [files, writes] = [await contents(stage), stage.writes().length];
    const { out } = await stage.run((to) =>
      history('agent.desk', { ...flagsOf(stage), limit: 5 }, to),
    );
    expect(JSON.parse(out).data.length).toBeGreaterThan(0);
    expect(await contents(stage)).toEqual(files);
    expect(stage.writes().length).toBe(writes);
  } finally {
    await lease.release();
    await store.close();
  }
});
