import { describe, expect, test } from 'vitest';
import { drift } from '../../src/cli/commands/drift.ts';
import { runSecretCommand } from '../../src/cli/secret-command.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { validate } from '../../src/console/validate.ts';
import { isObject, type Json } from '../../src/core/value.ts';
import { pull } from '../../src/features/writing/pull/command.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { agentNamed, CANARIES } from '../e2e/clinic.ts';
import { temporaryFolder } from '../temporary.ts';

const NONE = { SMS_TOKEN: undefined, CRM_KEY: undefined, MCP_TOKEN: undefined };

const desk = ({ sim }: Stage) => agentNamed(sim);

/** The calendar server's headers, as somebody gives them in the dashboard. */
function editHeaders(stage: Stage, headers: Record<string, string>): void {
  const { id, record } = desk(stage);
  const { extensions } = record;
  if (!isObject(extensions)) throw new Error('the front desk has no extensions');
  const [server = {}] = (extensions.mcp_servers ?? []) as Record<string, Json>[];
  const mcp_servers = [{ ...server, auth_headers: headers }];
  stage.sim.edit(id, { extensions: { ...extensions, mcp_servers } as Json });
}

describe('without a single secret', () => {
  staged('drift is found, and what is a secret is left alone', async (stage) => {
    await stage.apply();
    stage.sim.edit(desk(stage).id, { greeting_message: 'Edited.' });
    const flags = { dir: stage.folder, format: 'json', detailedExitcode: true } as const;
    const { out, err } = await stage.run((to) => drift(flags, to), { env: NONE, exit: 2 });
    expect(err).not.toContain('secret');
    const [{ fields }] = JSON.parse(out).changes;
    expect(fields.map(({ path }: { path: string }) => path)).toEqual(['greeting_message']);
    expect(JSON.parse(out).changes).toHaveLength(1);
  });

  staged(
    'a header that comes back from the platform is held against what was written',
    async (stage) => {
      await stage.apply();
      editHeaders(stage, { Authorization: 'canary-somebody-elses' });
      const flags = { dir: stage.folder, format: 'json', detailedExitcode: true } as const;
      const { out } = await stage.run((to) => drift(flags, to), { env: NONE, exit: 2 });
      expect(out).toContain('auth_headers.Authorization');
      expect(out).not.toContain('canary-somebody-elses');
      editHeaders(stage, { Authorization: CANARIES.MCP_TOKEN });
      await stage.run((to) => drift(flags, to), { env: NONE, exit: 0 });
    },
  );

  staged('pull takes what is no secret', async (stage) => {
    await stage.apply();
    stage.sim.edit(desk(stage).id, { greeting_message: 'Edited.' });
    const flags = { dir: stage.folder, format: 'text', allowDirty: true } as const;
    await stage.run((to) => pull([], flags, to), { env: NONE });
    expect(await stage.read('agents.yaml')).toContain('greeting_message: Edited.');
    await stage.apply();
  });
});

describe('a secret from a command', () => {
  async function fromCommand(stage: Stage, command: string) {
    await stage.edit('agents.yaml', 'env:SMS_TOKEN', JSON.stringify(`exec:${command}`));
  }
  const env = { SMS_TOKEN: undefined };
  const allowed = (stop = new AbortController().signal) => ({
    env,
    outside: {
      runSecret: runSecretCommand({ env: { ...process.env, VAULT: CANARIES.SMS_TOKEN }, stop }),
    },
  });

  staged('is what the command prints, run in the folder of the stack', async (stage) => {
    await fromCommand(stage, 'test -f callsheet.yaml && echo $VAULT');
    await stage.apply({}, allowed());
    const { integrations } = desk(stage).record;
    expect(JSON.stringify(integrations)).toContain(`"auth_token":"${CANARIES.SMS_TOKEN}"`);
    expect(stage.leaks()).toEqual([]);
  });

  staged(
    'is not run without the flag: it is not set then, and apply asks for it',
    async (stage) => {
      await fromCommand(stage, 'touch it-ran');
      const flags = { dir: stage.folder, format: 'text', autoApprove: true } as const;
      await stage.run((to) => plan(flags, to), { env });
      const said = await stage.run((to) => apply(undefined, flags, to), { env, exit: 1 });
      expect(said.err.replace(/\s+/g, ' ')).toContain(
        'reads its secret from a command, and commands are not allowed',
      );
      expect(said.err.replace(/\s+/g, ' ')).toContain('pass --allow-exec. Nothing was written');
      expect(stage.writes()).toEqual([]);
      await expect(stage.read('it-ran')).rejects.toThrow();
    },
  );

  describe.each(['text', 'json'])('is run by validate --secrets (%s)', (format) => {
    const rows = [
      ['one that fails', 'false', true, /which ended with 1/],
      ['one that complains', 'echo sealed >&2; exit 3', true, /which ended with 3: sealed/],
      ['one that prints nothing', 'true', true, /which printed nothing/],
      ['one that is not allowed', 'touch it-ran', false, /commands are not allowed/],
      ['one that gives it', 'echo $VAULT', true, undefined],
    ] as const;
    for (const [title, command, isAllowed, why] of rows)
      staged(title, async (stage) => {
        await fromCommand(stage, command);
        const flags = { dir: stage.folder, format } as const;
        const given = isAllowed ? allowed() : { env };
        const exit = why === undefined ? 0 : 1;
        const { out } = await stage.run((to) => validate({ ...flags, secrets: true }, to), {
          ...given,
          exit,
        });
        expect(out).not.toContain(CANARIES.SMS_TOKEN);
        // Only the flag runs anything.
        await stage.run((to) => validate(flags, to), given);
        await expect(stage.read('it-ran')).rejects.toThrow();
        if (why === undefined) return;
        const [found] =
          format === 'json'
            ? JSON.parse(out).diagnostics.map(
                ({
                  message,
                  position,
                }: {
                  message: string;
                  position: { file: string; line: number };
                }) => `${position.file}:${position.line} ${message}`,
              )
            : [out.replace(/\s+/g, ' ')];
        expect(found).toMatch(why);
        expect(found).toMatch(/agents\.yaml:\d+/);
      });
  });

  const failures = [
    ['one that fails', 'echo sealed >&2; echo half-a-secret; exit 3', 'ended with 3: sealed'],
    [
      'one that fails with what it was called with',
      'echo "no https://u:hush@vault.test/?token=hush" >&2; exit 3',
      'ended with 3: no https://u:(secret)@vault.test/?token=(secret)',
    ],
    ['one that prints nothing', 'true', 'printed nothing'],
    ['one that prints too much', 'yes', 'printed more than the maximum size of a secret'],
    ['one that is not there', 'no-such-vault get x', 'ended with 127'],
    ['bytes', "printf '\\377'", 'printed something that is not UTF-8'],
  ] as const;
  for (const [what, command, says] of failures) {
    staged(`${what} stops the command before a request`, async (stage) => {
      await fromCommand(stage, command);
      const flags = { dir: stage.folder, format: 'text' } as const;
      const { err } = await stage.run((to) => plan(flags, to), { ...allowed(), exit: 1 });
      expect(err.replace(/\s+/g, ' ')).toContain(`reads its secret from a command, which ${says}`);
      expect(err).toContain('agents.yaml:');
      expect(err).not.toContain('half-a-secret');
      expect(stage.sim.requests).toEqual([]);
    });
  }
});

test('an interrupt ends a command with everything that it started', async () => {
  const folder = temporaryFolder();
  const stop = new AbortController();
  const run = runSecretCommand({ env: process.env, stop: stop.signal })(folder);
  // Both the shell and its child hold the pipe: the promise settles once neither does.
  const outcome = run('sleep 300 & sleep 300; echo no');
  stop.abort();
  expect(await outcome).toEqual({ why: 'was interrupted' });
});
