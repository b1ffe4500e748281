import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import bundled from '../../../schemas/callsheet.schema.json' with { type: 'json' };
import { schema } from '../../../src/features/writing/init/files.ts';
import { quietContext } from '../../cli/quiet-context.ts';
import { folderOf } from '../../stack/stack-folder.ts';

test('the schema is the one that the package holds', async () => {
  const { context, said } = quietContext();
  expect(await schema({ dir: '.' }, context)).toBe(0);
  expect(JSON.parse(said.out)).toEqual(bundled);
});

test('--out writes it and says the line that files begin with', async () => {
  const { context, said } = quietContext();
  const out = join(folderOf({}), 'callsheet.schema.json');
  expect(await schema({ dir: '.', out }, context)).toBe(0);
  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual(bundled);
  expect(said).toMatchObject({ out: '', err: expect.stringContaining(`$schema=${out}`) });
});

test('a file that cannot be written is a mistake on the command line', async () => {
  const { context } = quietContext();
  const out = join(folderOf({}), 'nowhere', 'x.json');
  await expect(schema({ dir: '.', out }, context)).rejects.toMatchObject({ code: 'usage' });
});
