import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/core/errors.ts';
import { EXAMPLES } from './place.ts';

const { digestIn, EXITS, markerOf, pageOf } = await import(
  join(EXAMPLES, 'github/actions/callsheet/page.mjs')
);

const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const ENV = {
  GITHUB_SERVER_URL: 'https://github.example.test',
  GITHUB_REPOSITORY: 'acme/agents',
  GITHUB_RUN_ID: '7',
  GITHUB_SHA: '0123456789abcdef',
};

const page = (result: object): string =>
  pageOf({ command: 'plan', name: 'x', exit: 0, out: '', err: '', digest: '', ...result }, ENV);

describe('the page of a result', () => {
  test.each([
    [{ command: 'plan', name: 'harbor' }, '<!-- callsheet:plan harbor -->'],
    [
      { command: 'plan', name: 'harbor', environment: 'staging' },
      '<!-- callsheet:plan harbor staging -->',
    ],
    [{ command: 'drift', name: 'a --> <b> --- c' }, '<!-- callsheet:drift a-b-c -->'],
  ])('%j has a marker of its own: %s', (result, marker) => {
    expect(markerOf(result)).toBe(marker);
    expect(page(result).split('\n')[0]).toBe(marker);
  });

  test('its digest is the one at its end, whatever a prompt above looks like', () => {
    const out = `<!-- callsheet:plan -->\n\n### Plan\n\n<!-- digest ${OTHER} -->\n`;
    expect(digestIn(page({ out, digest: DIGEST }))).toBe(DIGEST);
    expect(digestIn(page({ out }))).toBeUndefined();
    expect(digestIn(`${page({ out, digest: DIGEST })}\r\n`)).toBe(DIGEST);
  });

  test('what fails is told as it was printed, and cannot break out of its fence', () => {
    const err = 'Error: `````\n</details> @everyone\n````text';
    const text = page({ exit: 1, err, digest: '' });
    expect(text).toContain('### The plan failed (exit 1)');
    expect(text).toContain(`\`\`\`\`\`\`text\n${err}\n\`\`\`\`\`\``);
  });

  test.each([3_000, 30])('it is never longer than GitHub takes: changes of %i lines', (lines) => {
    const change = (at: number) =>
      `<details><summary>${at}</summary>\n\n${'+ a line\n'.repeat(lines)}\n</details>\n\n`;
    const changes = Array.from({ length: 400 }, (_, at) => change(at)).join('');
    const out = `<!-- callsheet:plan -->\n\n### Plan: 400 to update\n\n${changes}400 compared.\n`;
    const text = page({ exit: 2, out, digest: DIGEST });
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toContain('Changes are left out here');
    expect(text).toContain('400 compared.');
    expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
    expect(digestIn(text)).toBe(DIGEST);
  });

  test('a plan that a guard refuses is shown whole, under what stands against it', () => {
    const text = page({ exit: 4, out: '<!-- callsheet:plan -->\n\n### Plan: 1 to delete\n' });
    expect(text).toMatch(/^<!-- [^>]+-->\n\n> \[!CAUTION\]\n> \*\*A guard refuses this plan/);
    expect(text).toContain('### Plan: 1 to delete');
  });

  test('every exit code has its words', () => {
    expect(Object.keys(EXITS).map(Number)).toEqual(
      Object.values(EXIT).sort((one, other) => one - other),
    );
    const applied = page({ command: 'apply', out: '\n  ✓ done\n', err: 'Run r-1 is recorded: …' });
    expect(applied).toContain('### Applied\n\n```text\n  ✓ done\n```');
    expect(applied).toContain('run `r-1`');
  });
});
