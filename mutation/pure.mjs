import { mutation } from './mutation.mjs';

export default mutation('pure', ['src/core/walk.ts', 'src/diff/**/*.ts', 'src/plan/**/*.ts']);
