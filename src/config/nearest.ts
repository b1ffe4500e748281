export { editDistance, insteadOf, nearest } from '../core/nearest.ts';
