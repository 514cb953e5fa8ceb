"""The pages: access helper → form → one service → response."""
