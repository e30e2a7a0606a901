enum { placeholder };
