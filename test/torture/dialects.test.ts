import { describe, test } from 'vitest';
import { liveOn } from '../e2e/dialect-life.ts';
import { DIALECTS } from '../e2e/dialect-table.ts';

describe('every two readings of what the specification leaves open', () => {
  test.each(DIALECTS)('on a platform with $name', ({ dialect }) => liveOn(dialect));
});
