//! Files that are not what they claim to be.

/// A PNG file whose header is right, and says how large it is, and that has nothing behind.
pub(crate) fn png_that_claims(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    let header = [b"IHDR".as_slice(), &width.to_be_bytes(), &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let bit = |c: u32, _| if c & 1 == 1 { (c >> 1) ^ 0xedb8_8320 } else { c >> 1 };
    let crc = header.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit));
    file.extend(header);
    file.extend((!crc).to_be_bytes());
    file.extend(b"\0\0\0\0IDAT\x35\xaf\x06\x1e");
    file
}
