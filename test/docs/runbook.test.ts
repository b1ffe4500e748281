import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject } from 'vitest';
import { staged } from '../apply/stage.ts';
import { agentNamed, CANARIES, FINGERPRINT_KEY } from '../e2e/clinic.ts';
import { wipe } from '../features/recovery/restoring.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/undo.md'), 'utf8');

/** The commands of a part of the page, in their order. */
function commandsBetween(from: string, to: string): readonly string[] {
  const start = PAGE.indexOf(from);
  const part = PAGE.slice(start, PAGE.indexOf(to, start));
  const spans = [...part.matchAll(/`callsheet ([^`]+)`/g)].map(([, typed = '']) => typed);
  return spans.map((typed) => typed.replaceAll(/\s+/g, ' '));
}

const BEFORE = commandsBetween('**Before the disaster**', '**When the fleet is gone:**');
const AFTER = commandsBetween('**When the fleet is gone:**', 'The last round of a restore');

/** A person adds these who has no secrets at hand yet, and sits at no terminal. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  'restore FILE': ['--without-secrets', '--auto-approve'],
  apply: ['--auto-approve'],
};

const SECRETS_UNSET = { SMS_TOKEN: '', CRM_KEY: CANARIES.CRM_KEY, MCP_TOKEN: CANARIES.MCP_TOKEN };

describe('the runbook of docs/undo.md, typed as it stands', () => {
  for (const state of ['kept', 'lost'] as const) {
    staged(`leaves no secret behind, with the state ${state}`, async (stage) => {
      const { sim, folder } = stage;
      const file = join(folder, 'then.snapshot');
      const type = async (typed: string, secrets: Readonly<Record<string, string>>) => {
        const words = [...typed.split(' '), ...(ADDED[typed] ?? [])];
        const args = words.map((word) => (word === 'FILE' ? file : word));
        const env = {
          PATH: process.env.PATH,
          HOME: folder,
          NODE_COMPILE_CACHE: inject('compiled'),
          CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
          CALLSHEET_BASE_URL: sim.url,
          CALLSHEET_CLIENT_ID: sim.clientId,
          CALLSHEET_CLIENT_SECRET: sim.clientSecret,
          CALLSHEET_SNAPSHOT_PASSPHRASE: 'correct horse battery',
          ...secrets,
        };
        const run = promisify(execFile)(process.execPath, [inject('bin'), ...args], {
          cwd: folder,
          env,
        });
        return (await run).stdout;
      };
      await type('apply', CANARIES);
      await type(`snapshot create --media --out ${file}`, CANARIES);
      const drills: string[] = [];
      for (const typed of BEFORE) drills.push(await type(typed, SECRETS_UNSET));
      expect(drills).toHaveLength(2);
      for (const said of drills) expect(said).toContain('SMS_TOKEN');
      wipe(sim);
      if (state === 'lost') await stage.forget();
      expect(AFTER).toEqual(['get agents', 'restore FILE --dry-run', 'restore FILE', 'apply']);
      for (const typed of AFTER) await type(typed, typed === 'apply' ? CANARIES : SECRETS_UNSET);
      expect(JSON.stringify(agentNamed(sim).record)).toContain(CANARIES.SMS_TOKEN);
      expect((await stage.plan()).changes).toEqual([]);
    });
  }
});
