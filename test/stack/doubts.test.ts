import { describe, expect, test } from 'vitest';
import { load, MAIN, said } from './stack-folder.ts';

const STACK = {
  'callsheet.yaml': `${MAIN}environments:
  live:
    patches: { agent.desk: { model: m }, agent.nobody: { model: m } }
moved: [{ from: agent.old, to: agent.desk }, { from: agent.older, to: agent.nobody }]
bases: { common: { model: m }, lonely: { model: n } }
`,
  'other.yaml': `agents:
  other: { name: Other, base: [greeter, nothing] }
`,
};

const GOOD = `bases: { greeter: { greeting_message: Hello } }
agents:
  desk: { name: Desk, base: common }
`;

async function rulesOf(file: string): Promise<readonly string[]> {
  const { diagnostics } = await load({ ...STACK, 'desk.yaml': file }, { environment: 'live' });
  return diagnostics.map(said).map((text) => text.replace(/^\S+ (warning )?/, ''));
}

describe('what is said of names that a file may have', () => {
  test('is only about those that no file has', async () => {
    expect(await rulesOf(GOOD)).toEqual([
      expect.stringMatching(/^environment\/patch .*agent\.nobody/),
      expect.stringMatching(/^moved\/unknown .*agent\.nobody/),
      expect.stringMatching(/^base\/unused .*lonely/),
      expect.stringMatching(/^base\/unknown .*"nothing"/),
    ]);
  });

  test('is not said of what may stand in a broken file, and of nothing else less', async () => {
    const [syntax, ...rest] = (await rulesOf(`${GOOD}  broken: { name: "A\n`)).toReversed();
    expect(syntax).toBeDefined();
    expect([syntax, ...rest].filter((text) => !text?.startsWith('yaml/')).toReversed()).toEqual(
      await rulesOf(GOOD),
    );
  });
});
